// The keys of this module are for values that a program takes from the system, such as the time and the locale. All
// Foundation types of these values are in FoundationEssentials, so a program on Linux that doesn't import Foundation
// doesn't link the rest of Foundation.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import SpellRegistry
internal import Synchronization

extension InjectionKeys {
  /// A function that returns the current time.
  ///
  /// ```swift
  /// @Injected(.now) var now
  /// let age = now().timeIntervalSince(birth)
  /// ```
  ///
  /// In tests and previews, the function always returns Foundation's reference date, the beginning of 2001 in UTC.
  public static let now = InjectionKey<@Sendable () -> Date>(scope: .singleton) { { Date() } }
    .test { { Date(timeIntervalSinceReferenceDate: 0) } }
    .preview { { Date(timeIntervalSinceReferenceDate: 0) } }

  /// A function that returns a new UUID at each call.
  ///
  /// In tests and previews, the UUIDs count up from `00000000-0000-0000-0000-000000000000`. In a test that has its own
  /// registry, for example from the trait `.registry`, the count starts at zero again.
  public static let uuid = InjectionKey<@Sendable () -> UUID>(scope: .singleton) { { UUID() } }
    .test {
      let count = SharedCount()
      return { UUID(counting: count.next()) }
    }
    .preview {
      let count = SharedCount()
      return { UUID(counting: count.next()) }
    }

  /// The clock for delays and timeouts.
  ///
  /// The value is a `ContinuousClock`. In a test, the value is instead the clock that is registered as
  /// `any Clock<Duration>` when the test first needs the value. The trait `.registry(clock: TestClock())` registers
  /// such a clock. If no clock is registered, the value is an ``ImmediateClock``. With a `ContinuousClock`, the test
  /// would have to wait in real time. With a `TestClock` that the test doesn't advance, a sleep would never end.
  public static let clock = InjectionKey<any Clock<Duration>>(scope: .singleton) { ContinuousClock() }
    .test { resolver in try resolver.resolve((any Clock<Duration>)?.self) ?? ImmediateClock() }

  /// The user's calendar, whose settings follow the system's.
  ///
  /// In a test, the value is the Gregorian calendar in GMT and in the locale `en_US_POSIX`.
  public static let calendar = InjectionKey<Calendar>(scope: .singleton) { Calendar.autoupdatingCurrent }
    .test {
      var calendar = Calendar(identifier: .gregorian)
      calendar.locale = testLocale
      calendar.timeZone = .gmt
      return calendar
    }

  /// The user's locale, whose settings follow the system's.
  ///
  /// In a test, the value is `en_US_POSIX`, which never changes.
  public static let locale = InjectionKey<Locale>(scope: .singleton) { Locale.autoupdatingCurrent }.test { testLocale }

  /// The user's time zone, which follows the system's.
  ///
  /// In a test, the value is GMT.
  public static let timeZone = InjectionKey<TimeZone>(scope: .singleton) { TimeZone.autoupdatingCurrent }.test { .gmt }

  /// A source of random numbers.
  ///
  /// ```swift
  /// @Injected(.randomNumberGenerator) var random
  /// let number = random { Int.random(in: 1...6, using: &$0) }
  /// ```
  ///
  /// The value is the system's generator. In tests and previews, it is a generator with seed 0, whose numbers are the
  /// same in each run. For another seed, write `registry.register(.randomNumberGenerator) { RandomSource(seed: 7) }`.
  public static let randomNumberGenerator = InjectionKey<RandomSource>(scope: .singleton) { RandomSource.system }
    .test { RandomSource(seed: 0) }
    .preview { RandomSource(seed: 0) }

  /// The environment variables of the process, as they were when the registry first needed the value of this key.
  ///
  /// In a test, the dictionary is empty. Register the variables that the test needs.
  public static let environment = InjectionKey<[String: String]>(scope: .singleton) {
    ProcessInfo.processInfo.environment
  }
  .test { [:] }
}

// These conformances are in this module, because the module that declares `DefaultInitializable` doesn't import
// Foundation.

extension Data: DefaultInitializable {}
extension Date: DefaultInitializable {}
extension Decimal: DefaultInitializable {}
extension AttributedString: DefaultInitializable {}
extension IndexPath: DefaultInitializable {}
extension UUID: DefaultInitializable {}

extension InjectionError: LocalizedError {
  /// The error's `description`, which `localizedDescription` also returns.
  public var errorDescription: String? { description }
}

private let testLocale = Locale(identifier: "en_US_POSIX")

private final class SharedCount: Sendable {
  private let count = Atomic<UInt64>(0)
  func next() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

extension UUID {
  /// Creates the UUID whose last eight bytes are `number` in big-endian order, and whose other bytes are 0.
  fileprivate init(counting number: UInt64) {
    func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: number >> (56 - 8 * index)) }
    self.init(
      uuid: (0, 0, 0, 0, 0, 0, 0, 0, byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7)))
  }
}
