import Synchronization

/// The least code that a program would write by hand: closures by type, under a mutex.
final class Closures: Sendable {
  private let table = Mutex<[ObjectIdentifier: @Sendable () -> Any]>([:])

  func register<Value>(_ type: Value.Type = Value.self, _ make: @escaping @Sendable () -> Value) {
    table.withLock { $0[ObjectIdentifier(type)] = make }
  }

  func resolve<Value>(_ type: Value.Type = Value.self) -> Value? {
    guard let make = table.withLock({ $0[ObjectIdentifier(type)] }) else { return nil }
    return make() as? Value
  }
}

/// Values by type, under a mutex.
final class Values: Sendable {
  private let table = Mutex<[ObjectIdentifier: any Sendable]>([:])

  func register<Value: Sendable>(_ value: Value) { table.withLock { $0[ObjectIdentifier(Value.self)] = value } }

  func resolve<Value>(_ type: Value.Type = Value.self) -> Value? {
    guard let value = table.withLock({ $0[ObjectIdentifier(type)] }) else { return nil }
    return value as? Value
  }
}

/// Values by key, under a mutex.
final class NamedValues: Sendable {
  private let table = Mutex<[String: any Sendable]>([:])

  func value<Value>(_: Value.Type = Value.self, forKey key: String) -> Value? {
    guard let value = table.withLock({ $0[key] }) else { return nil }
    return value as? Value
  }

  func set<Value: Sendable>(_ value: Value, forKey key: String) { table.withLock { $0[key] = value } }
}
