import HabitsCore
import Testing

@Suite struct StreaksTests {
  @Test func areNothingWithoutDays() {
    let streaks = Streaks(of: [], on: "2026-04-01")
    #expect(streaks.current == 0)
    #expect(streaks.longest == 0)
    #expect(streaks.lastDays == Array(repeating: false, count: 14))
  }

  @Test(
    arguments: [
      (["2026-02-27", "2026-02-28", "2026-03-01"], "2026-03-01"),
      (["2028-02-28", "2028-02-29", "2028-03-01"], "2028-03-01"),
      (["2026-12-30", "2026-12-31", "2027-01-01"], "2027-01-01"),
      (["2026-03-28", "2026-03-29", "2026-03-30"], "2026-03-30"),
      (["2026-10-24", "2026-10-25", "2026-10-26"], "2026-10-26"),
    ] as [(Set<Day>, Day)]) func goOnOverTheEndOfAMonthAndAChangeOfTheHour(days: Set<Day>, today: Day)
  {
    #expect(Streaks(of: days, on: today).current == 3)
    #expect(Streaks(of: days, on: today).longest == 3)
  }

  @Test func stayUntilTheDayIsOver() {
    let days: Set<Day> = ["2026-03-30", "2026-03-31"]
    #expect(Streaks(of: days, on: "2026-04-01").current == 2)
    #expect(Streaks(of: days, on: "2026-04-02").current == 0)
    #expect(Streaks(of: days, on: "2026-04-02").longest == 2)
  }

  @Test func keepTheLongest() {
    let days: Set<Day> = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-03-31", "2026-04-01"]
    let streaks = Streaks(of: days, on: "2026-04-01")
    #expect(streaks.current == 2)
    #expect(streaks.longest == 3)
  }

  @Test func showFourteenDaysWithTodayLast() {
    let streaks = Streaks(of: ["2026-03-18", "2026-03-19", "2026-04-01"], on: "2026-04-01")
    #expect(streaks.lastDays == [true] + Array(repeating: false, count: 12) + [true])
  }
}
