package import Foundation

/// A type that provides the current time and the time zone.
package protocol WallClock: Sendable {
  var now: Date { get }
  var timeZone: TimeZone { get }
}

extension WallClock {
  /// The current day in the clock's time zone.
  package var today: Day { Day(of: now, in: timeZone) }
}

/// The computer's clock, in the person's time zone.
package struct SystemClock: WallClock {
  package init() {}

  package var now: Date { Date() }
  package var timeZone: TimeZone { .current }
}

/// A clock that always shows one moment, for tests and samples.
package struct FixedClock: WallClock {
  package let now: Date
  package let timeZone: TimeZone

  package init(now: Date, timeZone: TimeZone) {
    self.now = now
    self.timeZone = timeZone
  }

  /// Creates a clock that always shows noon on a day, in Greenwich Mean Time.
  package init(_ day: Day) { self.init(now: day.noon, timeZone: .gmt) }
}
