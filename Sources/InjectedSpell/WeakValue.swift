internal import Locking
internal import SpellRegistry

/// The value of a property that does not keep it alive.
@usableFromInline final class WeakValue: Sendable {
  private let reference = Lock<WeakReference?>(nil)

  @usableFromInline init() {}

  /// The object as the property's Optional type, while there is one.
  func value<Value>(as: Value.Type = Value.self) -> Value? {
    guard let object = reference.withLock(\.self)?.object else { return nil }
    return object as? Value
  }

  /// Holds the object in an Optional, or nothing.
  func hold<Value>(_ value: Value) {
    let object = (value as? any OptionalValue)?.content
    let held = object.map { WeakReference($0, declaredBy: "@Injected(.weak) of \(TypeName.of(Value.self))") }
    reference.withLock { $0 = held }
  }

  /// The nil of the property's Optional type.
  func nothing<Value>(as: Value.Type = Value.self) -> Value {
    guard let none = (Value.self as? any OptionalValue.Type)?.none as? Value else {
      trap("@Injected(.weak) of \(TypeName.of(Value.self)), which is no Optional, cannot read nil.")
    }
    return none
  }
}
