@testable import LaunchInitializers
import Support
import TestSupport
import Testing

@Suite("Foreground", .timeLimit(.hang)) struct ForegroundTests {
  let journal = Journal()

  @Test("the steps that ask for it run again, only after the app was in the background")
  func pass() async throws {
    let launch = try LaunchSequence {
      note("a", journal)
      note("b", journal, again: true).id("b")
      note("c", journal, again: true).only(in: .production)
    }
    await launch.enterBackground()
    #expect(await launch.enterForeground().entries.isEmpty)
    try await launch.launch()
    #expect(await launch.enterForeground().entries.map(\.id) == ["b"])
    #expect(await launch.enterForeground().entries.isEmpty)
    await launch.enterBackground()
    await launch.enterBackground()
    #expect(await launch.enterForeground().entries.map(\.id) == ["b"])
    #expect(journal.entries == ["a", "b", "b", "b"])
  }

  @Test("a hundred concurrent calls share one pass")
  func coalesced() async throws {
    for _ in 0..<20 {
      let journal = Journal()
      let launch = try LaunchSequence { note("a", journal, again: true) }
      try await launch.launch()
      await launch.enterBackground()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask { await launch.enterForeground() } }
      }
      #expect(journal.entries == ["a", "a"])
    }
  }

  @Test("calls during a pass, after another background, share one more pass")
  func exactlyOneMore() async throws {
    let (gate, isRunning) = (AsyncLatch(), AsyncLatch())
    let launch = try LaunchSequence {
      Do(wantsForeground: true) { _ in
        journal.note("run")
        if journal.entries.count == 2 {
          isRunning.open()
          await gate.wait()
        }
      }
    }
    try await launch.launch()
    await launch.enterBackground()
    let first = Task { await launch.enterForeground() }
    await isRunning.wait()
    let others = (0..<100).map { _ in
      launch.handle(.background)
      return launch.enroll(.foreground)
    }
    gate.open()
    #expect(await first.value.entries.count == 1)
    for other in others {
      guard case .report(let report) = await launch.answer(to: other) else {
        Issue.record("A pass has a report.")
        continue
      }
      #expect(report.entries.count == 1)
    }
    #expect(journal.entries.count == 3)
  }

  @Test("a pass during the launch waits for the launch's end")
  func deferred() async throws {
    let (gate, isRunning) = (AsyncLatch(), AsyncLatch())
    let launch = try LaunchSequence {
      note("a", journal, again: true)
      Do { _ in
        isRunning.open()
        await gate.wait()
        journal.note("launched")
      }
    }
    let launched = Task { try await launch.launch() }
    await isRunning.wait()
    await launch.enterBackground()
    let pass = Task { await launch.enterForeground() }
    gate.open()
    _ = try await launched.value
    await launch.enterForeground()
    _ = await pass.value
    #expect(journal.entries == ["a", "launched", "a"])
  }

  @Test("nothing runs at the foreground after a failed launch or a shutdown")
  func noLaunch() async throws {
    let failed = try LaunchSequence {
      note("a", journal, again: true)
      Do { _ in throw Broken() }
    }
    await #expect(throws: LaunchError.self) { try await failed.launch() }
    await failed.enterBackground()
    #expect(await failed.enterForeground().entries.isEmpty)
    let over = try LaunchSequence { note("b", journal, again: true) }
    try await over.launch()
    await over.shutDown()
    await over.enterBackground()
    #expect(await over.enterForeground().entries.isEmpty)
    #expect(journal.entries == ["a", "-a", "b", "-b"])
  }

  @Test("a step that fails at the foreground is retried and reported, and aborts nothing")
  func failing() async throws {
    let launch = try LaunchSequence {
      Do(wantsForeground: true) { _ in
        journal.note("try")
        if journal.entries.count > 1 { throw Broken() }
      }.id("bad").onFailure(.retry(1, after: .zero))
      note("next", journal, again: true).id("next")
    }
    try await launch.launch()
    await launch.enterBackground()
    let report = await launch.enterForeground()
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries.map(\.attempts) == [2, 1])
    #expect(journal.entries == ["try", "next", "try", "try", "next"])
  }

  @Test("a step that calls enterForeground() doesn't wait for itself")
  func fromInside() async throws {
    let box = Box<LaunchSequence>()
    let launch = try LaunchSequence {
      Do(wantsForeground: true) { _ in
        journal.note("run")
        guard journal.entries.count == 1 else { return }
        await box.value.withLock { $0 }?.enterBackground()
        let report = await box.value.withLock { $0 }?.enterForeground()
        #expect(report?.entries.isEmpty == true)
      }
    }
    box.value.withLock { $0 = launch }
    try await launch.launch()
    await launch.enterForeground()
    await launch.shutDown()
    #expect(journal.entries == ["run", "run"])
    // No caller takes the answer to the step's call.
    #expect(launch.state.withLock { $0.answers.isEmpty })
  }
}
