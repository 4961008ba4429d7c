import Foundation
import LaunchInitializers
import SpellTesting
import Synchronization
import Testing

@Suite("Shutting down", .timeLimit(.minutes(1))) struct ShutDownTests {
  let journal = Journal()

  @Test("goes through what completed in reverse, once for all who call for it")
  func reverse() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      for number in 0..<5 { note("\(number)", journal) }
      Do { _ in throw SkipInitializer("nothing") }
    }
    try await launch.launch()
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { await launch.shutDown().entries.count } }
      for await count in group { #expect(count == 5) }
    }
    #expect(journal.entries.suffix(5) == ["-4", "-3", "-2", "-1", "-0"])
    #expect(journal.entries.count == 10)
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .shutDown)
  }

  @Test("before the launch leaves nothing to launch")
  func before() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) { note("a", journal) }
    #expect(await launch.shutDown().entries.isEmpty)
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .shutDown)
    #expect(journal.entries.isEmpty)
  }

  @Test("during the launch ends it, and shuts down what had completed")
  func during() async throws {
    let (clock, isRunning) = (TestClock(), Gate())
    let launch = try LaunchSequence(configuration: NoConfiguration(), clock: clock) {
      note("a", journal)
      Do { _ in
        isRunning.open()
        try await clock.sleep(for: .seconds(60))
      }
    }
    let launched = Task { try await launch.launch() }
    await isRunning.pass()
    #expect(await launch.shutDown().entries.map(\.id) == ["Do"])
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == .shutDown)
    #expect(journal.entries == ["a", "-a"])
  }

  @Test("from inside a step ends the launch and does not wait for itself")
  func fromInside() async throws {
    let box = Box<LaunchSequence>()
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      note("a", journal)
      Do { _ in await box.value.withLock { $0 }?.shutDown() }
      note("late", journal)
    }
    box.value.withLock { $0 = launch }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .shutDown)
    await launch.shutDown()
    #expect(journal.entries == ["a", "-a"])
  }

  @Test("a step that takes longer than its timeout is left behind, and the others go on")
  func timeout() async throws {
    let (clock, gate) = (TestClock(), Gate())
    let launch = try LaunchSequence(configuration: NoConfiguration(), clock: clock) {
      note("a", journal).id("a")
      Do(whenShutDown: { await gate.pass() }) { _ in }.id("stuck").timeout(.seconds(3))
    }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown() }
    await clock.waitForSleeper(until: .seconds(3))
    clock.advance(by: .seconds(3))
    await clock.waitForSleeper(until: .seconds(4))
    clock.advance(by: .seconds(1))
    let report = await shutDown.value
    #expect(report.entries.map(\.id) == ["stuck", "a"])
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries.map(\.end) == [.seconds(4), .seconds(4)])
    #expect(journal.entries == ["a", "-a"])
    gate.open()
  }

  @Test("races with a launch and a pass without a hang or a step left up")
  func race() async throws {
    for round in 0..<50 {
      let journal = Journal()
      // With a grace that no busy machine uses up.
      let launch = try LaunchSequence(configuration: NoConfiguration(), cancellationGracePeriod: .seconds(60)) {
        for number in 0..<20 {
          Do(wantsForeground: true, whenShutDown: { journal.note("down \(number)") }) { _ in
            if round % 2 == 0 { await Task.yield() }
            journal.note("up \(number)")
          }.id("\(number)").after()
        }
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { do { try await launch.launch() } catch {} }
        group.addTask {
          await launch.enterBackground()
          await launch.enterForeground()
        }
        group.addTask { await launch.shutDown() }
      }
      let entries = journal.entries
      for number in 0..<20 {
        let isUp = entries.contains("up \(number)")
        #expect(entries.count { $0 == "down \(number)" } == (isUp ? 1 : 0))
      }
    }
  }
}
