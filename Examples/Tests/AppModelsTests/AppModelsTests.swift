import Foundation
import Observation
import SpellTesting
import Spellbook
import Synchronization
import Testing

@testable import AppModels

nonisolated final class RecordingChime: Chime {
  private let number = Atomic(0)
  var count: Int { number.load(ordering: .relaxed) }
  func ring() { number.add(1, ordering: .relaxed) }
}

/// A record of the observed changes, in the order in which they were reported.
nonisolated final class Journal: Sendable {
  private let names = Mutex<[String]>([])
  var entries: [String] { names.withLock { $0 } }
  func add(_ name: String) { names.withLock { $0.append(name) } }
}

@Suite("An app's models", .timeLimit(.minutes(1))) struct AppModelsTests {
  let clock = TestClock()
  let chime = RecordingChime()

  /// Registers the test's clock and chime in the current registry.
  private func register() {
    let (clock, chime) = (clock, chime)
    InitializerRegistry.current.register(.clock) { clock }
    InitializerRegistry.current.register(.chime) { chime }
  }

  @Test("A session counts down, rings and is kept", .registry, .preferences(["focus.minutes": 2]))
  func session() async throws {
    register()
    let (model, history) = (FocusModel(), HistoryModel())
    #expect(model.title == "Focus for 2 min")
    let running = Task { await model.run() }
    await clock.waitForSleepers(1)
    #expect(model.title == "2 min left")
    clock.advance(by: .seconds(60))
    await clock.waitForSleepers(1)
    #expect(model.title == "1 min left")
    clock.advance(by: .seconds(60))
    await running.value
    #expect(model.remaining == nil)
    #expect(chime.count == 1)
    #expect(history.summary == "1 sessions, 2 of 8 min")
    let log = try InitializerRegistry.current.resolve(.sessionLog)
    #expect(log.sessions == [FocusSession(end: Date(timeIntervalSinceReferenceDate: 0), minutes: 2)])
  }

  @Test("A session that is cancelled neither rings nor counts", .registry, .preferences([:]))
  func cancelledSession() async throws {
    register()
    let model = FocusModel()
    let running = Task { await model.run() }
    await clock.waitForSleepers(1)
    running.cancel()
    await running.value
    #expect(model.title == "Focus for 25 min")
    #expect(chime.count == 0)
    #expect(HistoryModel().summary == "0 sessions, 0 of 100 min")
  }

  @Test(
    "A session is silent if the preference says so", .registry,
    .preferences(["focus.minutes": 1, "focus.rings": false]))
  func silence() async throws {
    register()
    let running = Task { await FocusModel().run() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    await running.value
    #expect(chime.count == 0)
    #expect(HistoryModel().summary == "1 sessions, 1 of 4 min")
  }

  @Test("Models are observed through their preferences and their services", .registry, .preferences([:]))
  func observation() throws {
    let (timer, history) = (FocusModel(), HistoryModel())
    let journal = Journal()
    func observe(_ name: String, _ read: () -> Void) {
      withObservationTracking(read) { journal.add(name) }
    }
    observe("timer") { _ = timer.title }
    observe("history") { _ = history.summary }
    FocusModel().minutes = 50
    #expect(journal.entries.sorted() == ["history", "timer"])
    #expect(timer.title == "Focus for 50 min")

    observe("log") { _ = history.summary }
    try InitializerRegistry.current.resolve(.sessionLog).add(minutes: 50)
    #expect(journal.entries.last == "log")
    #expect(history.summary == "1 sessions, 50 of 200 min")
  }

  @Test("A preview has its own preferences, and what the keys declare for previews", .registry, .preferences([:]))
  func preview() throws {
    let (model, chime, now) = try InitializerRegistry.preview(["focus.minutes": 50]) {
      let registry = InitializerRegistry.current
      return (FocusModel(), try registry.resolve(.chime), try registry.resolve(.now))
    }
    #expect(model.title == "Focus for 50 min")
    #expect(chime is SilentChime)
    #expect(now() == Date(timeIntervalSinceReferenceDate: 0))
    model.minutes = 10
    #expect(InitializerRegistry.preview { FocusModel().minutes } == 25)
    #expect(FocusModel().minutes == 25)
  }
}
