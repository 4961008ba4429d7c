package import Foundation

/// A calendar day, without an hour or a time zone.
///
/// A day is stored as text: `2026-04-01`.
package struct Day: Hashable, Comparable, Sendable {
  /// The number of days since 1970-01-01.
  private let number: Int

  private init(number: Int) { self.number = number }

  /// Creates the day on which a moment falls in a time zone.
  package init(of moment: Date, in timeZone: TimeZone) {
    let seconds = moment.timeIntervalSince1970 + Double(timeZone.secondsFromGMT(for: moment))
    number = Int((seconds / Day.length).rounded(.down))
  }

  package static func < (a: Day, b: Day) -> Bool { a.number < b.number }

  /// Returns the day that is this number of days later.
  package static func + (day: Day, days: Int) -> Day { Day(number: day.number + days) }

  /// Returns the day that is this number of days earlier.
  package static func - (day: Day, days: Int) -> Day { Day(number: day.number - days) }

  /// Noon on this day, in Greenwich Mean Time.
  var noon: Date { Date(timeIntervalSince1970: (Double(number) + 0.5) * Day.length) }

  private static let length = 86_400.0
  private static let style = Date.ISO8601FormatStyle().year().month().day()
}

extension Day: LosslessStringConvertible {
  package init?(_ text: String) {
    guard let moment = try? Date(text, strategy: Day.style) else { return nil }
    self.init(of: moment, in: .gmt)
    guard description == text else { return nil }
  }

  package var description: String { noon.formatted(Day.style) }
}

extension Day: ExpressibleByStringLiteral {
  /// Creates a day from a literal, such as `2026-04-01`.
  ///
  /// - Precondition: The literal is a valid day.
  package init(stringLiteral text: String) {
    guard let day = Day(text) else { preconditionFailure("\(text) isn't a day of the calendar") }
    self = day
  }
}

extension Day: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let day = Day(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) isn't a day of the calendar")
    }
    self = day
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
