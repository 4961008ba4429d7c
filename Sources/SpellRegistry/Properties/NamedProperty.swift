/// A property wrapper whose properties have names to be found.
///
/// Conform your own wrapper to it, without constraints on its generic arguments. Its property's name then reaches initializers,
/// hooks, observers and errors, and the check of a whole program lists its properties:
///
/// ```swift
/// extension Audited: NamedProperty {
///   public var identity: PropertyIdentity { trail.identity }
/// }
/// ```
public protocol NamedProperty {
  /// The type of the property.
  ///
  /// A wrapper with a generic parameter named `Value` needs no declaration of it.
  associatedtype Value

  /// The identity of the property that this wrapper stores.
  var identity: PropertyIdentity { get }
}

extension NamedProperty {
  /// The type of the property, when only the runtime knows the wrapper.
  package static var valueType: any Any.Type { Value.self }
}
