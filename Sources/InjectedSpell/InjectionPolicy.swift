internal import SpellRegistry

/// The reads at which an `@Injected` property asks the registry.
public enum InjectionPolicy: Sendable {
  /// The property asks the registry at its first read, and keeps the value. This is the default.
  case once
  /// The property asks a registry at every read, and keeps only a value that is assigned or that a ``ServiceBox`` fills
  /// in.
  ///
  /// Each read asks the registry that a running initializer or `InitializerRegistry.run` has made current. For example,
  /// a server can make a separate registry current while it handles a request. If nothing has made a registry current,
  /// the read asks the registry that was current when the enclosing object was created.
  case everyRead
}

/// The policy of an `@Injected` property that doesn't keep its value alive.
public enum WeakInjectionPolicy: Sendable {
  /// The property asks the registry at its first read, and holds the value weakly.
  ///
  /// When the value is gone, the property reads nil, like a `weak var`, until it is assigned or reset.
  case weak
}

/// The weakly held value of an `@Injected(.weak)` property.
///
/// This is a class because a read copies it, and a copy of a weak reference takes longer than a retain.
@usableFromInline final class WeakValue: Sendable {
  fileprivate let reference: WeakReference

  /// Creates a weak reference to the object that an Optional wraps; the result is nil if the Optional is nil.
  @usableFromInline init?<Value>(holding value: Value?) {
    guard let object = value.flatMap({ ($0 as? any OptionalValue)?.content }) else { return nil }
    reference = WeakReference(object, declaredBy: "@Injected(.weak) of \(TypeName.of(Value.self))")
  }

  var isAlive: Bool { reference.object != nil }
}

extension WeakValue? {
  /// Returns the object as a value of the property's Optional type, or nil if the object no longer exists.
  func value<Value>(as: Value.Type = Value.self) -> Value {
    if let object = self?.reference.object, let value = object as? Value { return value }
    guard let none = (Value.self as? any OptionalValue.Type)?.none as? Value else {
      trap("@Injected(.weak) of \(TypeName.of(Value.self)), which isn't an Optional, can't read nil.")
    }
    return none
  }
}
