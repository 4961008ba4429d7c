import SpellRegistry

// Types that any test can register.

final class Clock: Sendable {}

final class Ticket: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

protocol Tracker: AnyObject, Sendable { var label: String { get } }

final class FileTracker: Tracker {
  let label = "file"
}

final class Network: Sendable { init(clock: Clock) {} }

final class Checkout: Sendable { init(network: Network, clock: Clock) {} }

extension InitializerRegistry {
  /// Returns the error of resolving a type, or nil if it succeeds.
  func error<Value>(resolving _: Value.Type) -> InjectionError? {
    do throws(InjectionError) {
      _ = try resolve(Value.self)
      return nil
    } catch { return error }
  }
}
