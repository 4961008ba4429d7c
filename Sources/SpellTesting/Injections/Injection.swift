internal import SpellRegistry

/// An injection that an ``InjectionRecorder`` has recorded.
public struct Injection: Sendable {
  /// The position among the recorded injections, from 1.
  public let order: Int
  /// The type of the value, such as `FakeTracker`.
  public let valueType: any Any.Type
  /// The type that was asked for: the property's, or the argument of `resolve`.
  public let propertyType: any Any.Type
  /// The class of the enclosing object; nil for a struct, a local variable, and a call of `resolve`.
  public let containerType: (any AnyObject.Type)?
  /// The property's name, if it is known.
  public let propertyName: String?

  /// Returns whether this type was asked for, or whether the value is of this type or of a subclass.
  ///
  /// `(any Tracker).self` is the type of a property; `FakeTracker.self` is the type of what it got.
  public func isOf<Value>(_ type: Value.Type) -> Bool {
    propertyType == type || propertyType == Value?.self || valueType is Value.Type
  }

  /// Returns whether the enclosing object is of this class or of a subclass.
  public func isInto<Container: AnyObject>(_ type: Container.Type) -> Bool { containerType is Container.Type }
}

extension Injection: CustomStringConvertible {
  /// The injection as text: `FakeTracker into Page.tracker: any Tracker`.
  public var description: String {
    let (value, property) = (TypeName.of(valueType), TypeName.of(propertyType))
    let asked = value == property ? "" : ": \(property)"
    switch (containerType.map { TypeName.of($0) }, propertyName) {
    case (let container?, let name?): return "\(value) into \(container).\(name)\(asked)"
    case (let container?, nil): return "\(value) into \(container)\(asked)"
    case (nil, let name?): return "\(value) as \(name)\(asked)"
    case (nil, nil): return value + asked
    }
  }
}
