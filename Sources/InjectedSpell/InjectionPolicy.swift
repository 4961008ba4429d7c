internal import SpellRegistry
internal import Support

/// How often an `@Injected` property asks the registry.
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

// MARK: Weak values

/// The value of a property that doesn't keep it alive.
@usableFromInline final class WeakValue: Sendable {
  private struct State: Sendable {
    /// Whether the registry was asked, or a value assigned.
    var isResolved = false
    var reference: WeakReference?
  }
  private let state = Lock(State())

  @usableFromInline init() {}

  @usableFromInline init<Value>(holding value: Value) { hold(value) }

  var isResolved: Bool { state.withLock(\.isResolved) }
  var isAlive: Bool { state.withLock(\.reference)?.object != nil }

  /// The object as the property's Optional type; its nil if the object is gone.
  func value<Value>(as: Value.Type = Value.self) -> Value {
    if let object = state.withLock(\.reference)?.object, let value = object as? Value { return value }
    guard let none = (Value.self as? any OptionalValue.Type)?.none as? Value else {
      trap("@Injected(.weak) of \(TypeName.of(Value.self)), which isn't an Optional, can't read nil.")
    }
    return none
  }

  /// Holds the object in an Optional, or nothing.
  func hold<Value>(_ value: Value) {
    let object = (value as? any OptionalValue)?.content
    let held = object.map { WeakReference($0, declaredBy: "@Injected(.weak) of \(TypeName.of(Value.self))") }
    state.withLock { $0 = State(isResolved: true, reference: held) }
  }

  func reset() { state.withLock { $0 = State() } }
}
