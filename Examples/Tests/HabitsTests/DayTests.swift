import Foundation
import HabitsCore
import Testing

@Suite struct DayTests {
  @Test(arguments: [
    ("2026-04-01T00:30:00Z", "America/New_York", "2026-03-31"),
    ("2026-03-31T23:30:00Z", "Europe/Paris", "2026-04-01"),
    ("2026-12-31T23:59:59Z", "GMT", "2026-12-31"),
    ("2026-12-31T10:00:00Z", "Pacific/Kiritimati", "2027-01-01"),
    ("1969-12-31T23:59:59Z", "GMT", "1969-12-31"),
  ]) func isTheDayOfTheTimeZone(moment: String, zone: String, day: String) throws {
    let timeZone = try #require(TimeZone(identifier: zone))
    let clock = FixedClock(now: try Date(moment, strategy: .iso8601), timeZone: timeZone)
    #expect(clock.today.description == day)
  }

  // In Paris, clocks go forward from 2:00 to 3:00 on March 29, 2026, and back from 3:00 to 2:00 on October 25.
  @Test(arguments: [
    ("2026-03-28T23:00:00Z", "2026-03-29"), ("2026-03-29T21:59:59Z", "2026-03-29"),
    ("2026-03-29T22:00:00Z", "2026-03-30"), ("2026-10-24T22:00:00Z", "2026-10-25"),
    ("2026-10-25T22:59:59Z", "2026-10-25"), ("2026-10-25T23:00:00Z", "2026-10-26"),
  ]) func isRightOnDaysOf23And25Hours(moment: String, day: String) throws {
    let timeZone = try #require(TimeZone(identifier: "Europe/Paris"))
    #expect(Day(of: try Date(moment, strategy: .iso8601), in: timeZone).description == day)
  }

  @Test func followsAndPrecedesAcrossMonthsAndYears() {
    #expect(Day("2026-12-31") + 1 == "2027-01-01")
    #expect(Day("2028-03-01") - 1 == "2028-02-29")
    #expect(Day("2026-03-01") - 1 == "2026-02-28")
  }

  @Test(arguments: ["", "2026", "2026-02-30", "2026-4-1", "2026-04-01T00:00:00Z", "tomorrow"])
  func isNotMadeOfOtherText(text: String) { #expect(Day(text) == nil) }

  @Test func isStoredAsItIsWritten() throws {
    let data = try JSONEncoder().encode([Day("2026-04-01")])
    #expect(String(decoding: data, as: UTF8.self) == #"["2026-04-01"]"#)
    #expect(try JSONDecoder().decode([Day].self, from: data) == ["2026-04-01"])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([Day].self, from: Data(#"["soon"]"#.utf8)) }
  }
}
