/// A property wrapper whose properties have names to be found.
///
/// Conform a wrapper of your own to it, whatever its arguments are, so that its property's name reaches initializers, hooks,
/// observers and errors, and so that the check of a whole program lists its properties:
///
/// ```swift
/// extension Clamped: NamedProperty {
///   public var identity: PropertyIdentity { storage.identity }
///   public static var need: PropertyNeed { .nothing }
/// }
/// ```
public protocol NamedProperty {
  /// The type of the property; a wrapper that has it as its generic parameter `Value` says so by that.
  associatedtype Value

  /// Which property this wrapper stores.
  var identity: PropertyIdentity { get }

  /// What a property with this wrapper asks its registry for, the same for each type of property; by default
  /// ``PropertyNeed/unknown``.
  static var need: PropertyNeed { get }
}

extension NamedProperty {
  /// Nothing is known of what the property asks for.
  public static var need: PropertyNeed { .unknown }

  /// The type of the property, when only the runtime knows the wrapper.
  package static var valueType: any Any.Type { Value.self }
}

/// What the properties with a wrapper ask their registry for, as far as the wrapper tells without an object.
public struct PropertyNeed: Sendable {
  /// What becomes of a property for which nothing is registered.
  public enum Necessity: Sendable, Hashable {
    /// A read stops the program.
    case required
    /// A read does without.
    case optional
    /// It depends on what the declaration says in its arguments or its expression, or on whether the property was assigned.
    case unknown
  }

  package let necessity: Necessity
  /// Whether the property's own type is asked for, before `services`.
  package let asksForValue: Bool
  /// What is asked for whatever the property's type is; a registration of one suffices.
  package let services: [any Any.Type]
  /// Whether a declaration may give a name or a key to ask with.
  package let takesNameOrKey: Bool

  /// The property asks for its type.
  ///
  /// - Parameters:
  ///   - necessity: What becomes of it if nothing serves it. If only its type is asked for, an Optional always does without.
  ///   - services: The types that are asked for if the property's own isn't registered.
  ///   - takesNameOrKey: Whether a declaration may give a name or a key to ask with.
  public static func value(
    _ necessity: Necessity, orElse services: any Any.Type..., takesNameOrKey: Bool = false
  ) -> PropertyNeed {
    PropertyNeed(
      necessity: necessity, asksForValue: true, services: services, takesNameOrKey: takesNameOrKey)
  }

  /// The property asks for a service, whatever its own type is.
  ///
  /// - Parameters:
  ///   - service: The type that is asked for.
  ///   - necessity: What becomes of the property if nothing serves it.
  public static func service(_ service: any Any.Type, _ necessity: Necessity) -> PropertyNeed {
    PropertyNeed(necessity: necessity, asksForValue: false, services: [service], takesNameOrKey: false)
  }

  /// The property asks for nothing.
  public static let nothing = PropertyNeed(
    necessity: .optional, asksForValue: false, services: [], takesNameOrKey: false)

  /// Nothing is known of what the property asks for.
  public static let unknown = PropertyNeed(
    necessity: .unknown, asksForValue: false, services: [], takesNameOrKey: false)
}
