internal import SpellRegistry

/// The reads at which an `@Injected` property asks the registry.
public enum InjectionPolicy: Sendable {
  /// At the first read; the value is kept. The default.
  case once
  /// At every read; nothing is kept. The registry is the one that is current at the read, if `run` set one, such as for
  /// a request of a server. Otherwise it is the one that was current when the object was created.
  case everyRead
}

/// The policy of an `@Injected` property that doesn't keep its value alive.
public enum WeakInjectionPolicy: Sendable {
  /// The property asks at the first read and holds the value weakly. It reads nil when the value is gone, as a `weak
  /// var` does, until it is assigned or reset.
  case weak
}

/// The value of a property that doesn't keep it alive.
@usableFromInline struct WeakValue: Sendable {
  private let reference: WeakReference?

  /// Holds the object in a property's Optional, or nothing.
  @usableFromInline init<Value>(holding value: Value?) {
    let object = value.flatMap { ($0 as? any OptionalValue)?.content }
    reference = object.map { WeakReference($0, declaredBy: "@Injected(.weak) of \(TypeName.of(Value.self))") }
  }

  var isAlive: Bool { reference?.object != nil }

  /// The object as the property's Optional type; its nil if the object is gone.
  func value<Value>(as: Value.Type = Value.self) -> Value {
    if let object = reference?.object, let value = object as? Value { return value }
    guard let none = (Value.self as? any OptionalValue.Type)?.none as? Value else {
      trap("@Injected(.weak) of \(TypeName.of(Value.self)), which isn't an Optional, can't read nil.")
    }
    return none
  }
}
