/// A wrapper that tells what its properties ask the registry for.
package protocol NeedingProperty: NamedProperty {
  static var need: PropertyNeed { get }
}

/// The request of a property to its registry, as far as its wrapper tells without an object.
package struct PropertyNeed: Sendable {
  /// The outcome for a property for which nothing is registered.
  package enum Necessity: Sendable {
    /// A read stops the program.
    case required
    /// A read does without.
    case optional
    /// It depends on what the declaration says, or on whether the property was assigned.
    case unknown
  }

  package let necessity: Necessity
  /// Whether the property's own type is asked for, before `services`.
  package let asksForValue: Bool
  /// The types that are asked for in place of the property's own; a registration of one suffices.
  package let services: [any Any.Type]
  /// Whether a declaration may give a name or a key to ask with.
  package let takesNameOrKey: Bool

  package init(
    _ necessity: Necessity, asksForValue: Bool = true, services: [any Any.Type] = [], takesNameOrKey: Bool = false
  ) {
    (self.necessity, self.asksForValue) = (necessity, asksForValue)
    (self.services, self.takesNameOrKey) = (services, takesNameOrKey)
  }
}
