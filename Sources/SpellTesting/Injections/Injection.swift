internal import SpellRegistry

/// One injection that an ``InjectionRecorder`` has heard of: what went where.
public struct Injection: Sendable {
  /// Its place among those that were recorded, from 1.
  public let order: Int
  /// The type of the value that was given: `FakeTracker`.
  public let valueType: any Any.Type
  /// The type that was asked for: the property's declared one, or what `resolve` was called with.
  public let propertyType: any Any.Type
  /// The class of the object that the value went into; nil for a struct, a local, and a call of `resolve`.
  public let containerType: (any AnyObject.Type)?
  /// The name that was asked with: the property's, as far as it is known.
  public let propertyName: String?

  /// Whether it was asked for as this type, or gave a value of this type or a subclass of it.
  ///
  /// `(any Tracker).self` is the type of a property; `FakeTracker.self` is the type of what it got.
  public func isOf<Value>(_ type: Value.Type) -> Bool {
    propertyType == type || propertyType == Value?.self || valueType is Value.Type
  }

  /// Whether the value went into an object of this class or a subclass of it.
  public func isInto<Container: AnyObject>(_ type: Container.Type) -> Bool { containerType is Container.Type }
}

extension Injection: CustomStringConvertible {
  /// What went where, as a person would say it: `FakeTracker into Page.tracker: any Tracker`.
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
