/// A property wrapper that lets reflection find the names of the properties that it wraps.
///
/// Conform your own wrapper to this protocol, without constraints on its generic arguments. Initializers, hooks,
/// observers and errors then get the property's name, and `WrappedProperty.all` lists the wrapper's properties:
///
/// ```swift
/// extension Audited: NamedProperty {
///   public var identity: PropertyIdentity { trail.identity }
/// }
/// ```
public protocol NamedProperty {
  /// The type of the property.
  ///
  /// A wrapper with a generic parameter named `Value` needn't declare this type.
  associatedtype Value

  /// The identity of the wrapped property, by which reflection finds the property's name.
  var identity: PropertyIdentity { get }
}

extension NamedProperty {
  /// The type of the property, for callers that know the wrapper's type only at run time.
  package static var valueType: any Any.Type { Value.self }
}
