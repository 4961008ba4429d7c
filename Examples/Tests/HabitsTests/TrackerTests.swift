import Foundation
import HabitsCore
import SpellTesting
import Spellbook
import Synchronization
import Testing

@Suite(.registry { $0.registerServices() }) struct TrackerTests {
  @Test func staysOnOneDayPastMidnight() throws {
    let clock = MovingClock("2026-03-31")
    InitializerRegistry.current.register(.instance(clock as any WallClock))
    let tracker: Tracker = try InitializerRegistry.current.resolve()
    _ = try tracker.add("Read")
    #expect(try tracker.markDone("Read").isNew)
    clock.advanceOneDay()
    #expect(try !tracker.markDone("Read").isNew)
    #expect(tracker.today == "2026-03-31")
    let next: Tracker = try InitializerRegistry.current.resolve()
    #expect(try next.markDone("Read").isNew)
    #expect(next.today == "2026-04-01")
  }

  @Test func neverAddsADraftTwice() throws {
    let book: HabitBook = try InitializerRegistry.current.resolve()
    let draft = HabitDraft(name: "Read")
    try book.add(draft)
    #expect(try book.rename("Read", to: "Books") == "Read")
    #expect(throws: HabitError.exists("Read")) { try book.add(draft) }
    #expect(try book.all().map(\.name) == ["Books"])
    #expect(draft.number == 1)
  }

  @Test func numbersHabitsAfterThoseThatWereWrittenByHand() throws {
    struct Line: Codable { var number: Int, name: String, days: [String] }
    let store: any PreferenceStore = try InitializerRegistry.current.resolve()
    try store.set([Line(number: 7, name: "Read", days: ["2026-04-01"])], forKey: "habits")
    let tracker: Tracker = try InitializerRegistry.current.resolve()
    #expect(try tracker.add("Walk") == 8)
  }

  @Test func seesWhatAnotherBookKeeps() throws {
    let first: HabitBook = try InitializerRegistry.current.resolve()
    let second: HabitBook = try InitializerRegistry.current.resolve()
    try first.add(HabitDraft(name: "Read"))
    try second.add(HabitDraft(name: "Walk"))
    #expect(try first.all().map(\.name) == ["Read", "Walk"])
    #expect(try second.all() == first.all())
  }

  @Test func changesNothingWhenAChangeFails() throws {
    struct Refused: Error {}
    let book: HabitBook = try InitializerRegistry.current.resolve()
    try book.add(HabitDraft(name: "Read"))
    #expect(throws: Refused.self) {
      try book.change("Read") { habit in
        habit.name = "Walk"
        throw Refused()
      }
    }
    #expect(try book.all().map(\.name) == ["Read"])
  }
}

/// A clock that a test can move to the next day.
private final class MovingClock: WallClock {
  private let day: Mutex<Day>
  let timeZone = TimeZone.gmt

  init(_ day: Day) { self.day = Mutex(day) }

  var now: Date { day.withLock { FixedClock($0).now } }

  func advanceOneDay() { day.withLock { $0 = $0 + 1 } }
}
