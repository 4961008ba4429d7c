import SpellRegistry

// Types that any test can register.

final class Clock: Sendable {}

final class Ticket: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

protocol Tracker: AnyObject, Sendable { var label: String { get } }

final class FileTracker: Tracker {
  let label: String
  init(_ label: String = "file") { self.label = label }
}

final class Network: Sendable {
  let clock: Clock
  init(clock: Clock) { self.clock = clock }
}

final class Checkout: Sendable {
  let network: Network
  let clock: Clock
  init(network: Network, clock: Clock) {
    self.network = network
    self.clock = clock
  }
}

struct Offline: Error, Equatable {}

/// An object that runs a closure when it is released.
final class Farewell: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}

extension InitializerRegistry {
  /// The error that resolving a type ends in, or nil if it succeeds.
  func error<Value>(resolving _: Value.Type, named name: String? = nil) -> InjectionError? {
    do throws(InjectionError) {
      _ = try resolve(Value.self, named: name)
      return nil
    } catch { return error }
  }
}
