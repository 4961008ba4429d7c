package import Foundation

/// A clock with the time and the time zone.
package protocol WallClock: Sendable {
  var now: Date { get }
  var timeZone: TimeZone { get }
}

extension WallClock {
  /// The current day.
  package var today: Day { Day(of: now, in: timeZone) }
}

/// The computer's clock, in the person's time zone.
package struct SystemClock: WallClock {
  package init() {}

  package var now: Date { Date() }
  package var timeZone: TimeZone { .current }
}

/// A clock that has stopped.
package struct FixedClock: WallClock {
  package let now: Date
  package let timeZone: TimeZone

  package init(now: Date, timeZone: TimeZone) {
    self.now = now
    self.timeZone = timeZone
  }

  /// Creates a clock that stopped at noon of a day.
  package init(_ day: Day) { self.init(now: day.noon, timeZone: .gmt) }
}
