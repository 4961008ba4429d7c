/// A property wrapper with a static description of what each property with this wrapper needs from its registry.
package protocol NeedingProperty: NamedProperty {
  static var need: PropertyNeed { get }
}

/// The services that a property needs from its registry, as known from the wrapper's type alone.
package struct PropertyNeed: Sendable {
  /// The effect of a read if nothing is registered for the property.
  package enum Necessity: Sendable {
    /// A read without a registration stops the program, unless the property's type is an Optional.
    case required
    /// A read succeeds without a registration.
    case optional
    /// The effect of a read depends on the declaration, or on whether the property was assigned.
    case unknown
  }

  package let necessity: Necessity
  /// Whether the property requests a value of its own type, before the types in `services`.
  package let asksForValue: Bool
  /// The types that the property requests apart from its own type.
  ///
  /// A registration for any one of the requested types is enough.
  package let services: [any Any.Type]
  /// Whether a declaration may specify a name or a key for the request.
  package let takesNameOrKey: Bool

  package init(
    _ necessity: Necessity, asksForValue: Bool = true, services: [any Any.Type] = [], takesNameOrKey: Bool = false
  ) {
    (self.necessity, self.asksForValue) = (necessity, asksForValue)
    (self.services, self.takesNameOrKey) = (services, takesNameOrKey)
  }
}
