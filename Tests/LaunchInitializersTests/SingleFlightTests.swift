import LaunchInitializers
import Support
import SpellTesting
import Synchronization
import TestSupport
import Testing

@Suite("Callers of a launch", .timeLimit(.hang)) struct SingleFlightTests {
  let journal = Journal()

  @Test("the steps run once for a hundred callers and for later ones")
  func once() async throws {
    let launch = try LaunchSequence { note("one", journal) }
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 { group.addTask { try await launch.launch().entries.count } }
      return try await group.reduce(0, +)
    }
    #expect(counts == 100)
    try await launch.launch()
    #expect(journal.entries == ["one"])
  }

  @Test("a step under way becomes as urgent as a later caller of its launch")
  func urgency() async throws {
    guard #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) else { return }
    let (began, isUrgent) = (AsyncLatch(), AsyncLatch())
    let launch = try LaunchSequence {
      Do { _ in
        await withTaskPriorityEscalationHandler {
          began.open()
          await isUrgent.wait()
        } onPriorityEscalated: { _, priority in
          if priority >= .userInitiated { isUrgent.open() }
        }
      }
    }
    let first = Task.detached(priority: .background) { _ = try await launch.launch() }
    await began.wait()
    let second = Task.detached(priority: .userInitiated) { _ = try await launch.launch() }
    await isUrgent.wait()
    _ = try await (first.value, second.value)
  }

  @Test("all callers get the same error")
  func oneFailure() async throws {
    let launch = try LaunchSequence { Do { _ in throw Broken() }.id("bad") }
    let ids = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          do { try await launch.launch() } catch { return (error as? LaunchError)?.id }
          return nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ids == Array(repeating: "bad", count: 50))
  }

  @Test("a step that calls its own launch gets an error")
  func reentry() async throws {
    let box = Lock<LaunchSequence?>(nil)
    let later = Box<Task<LaunchReport, any Error>>()
    let launch = try LaunchSequence {
      Do { _ in
        let launch = try #require(box.withLock { $0 })
        later.value.withLock { $0 = Task { try await launch.launch() } }
        try await launch.launch()
      }.id("inner")
    }
    box.withLock { $0 = launch }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .stepFailed)
    let cause = try #require(error.underlying as? LaunchError)
    #expect(cause.code == .reentered)
    #expect(cause.id == "inner")
    let task = try #require(later.value.withLock { $0 })
    await #expect(throws: LaunchError.self) { try await task.value }
  }

  @Test("a step that calls the launch while the sequence shuts it down gets an error", arguments: [false, true])
  func reentryAtTheEnd(fails: Bool) async throws {
    let box = Lock<LaunchSequence?>(nil)
    let journal = Journal()
    let launch = try LaunchSequence(log: { _ in }) {
      LaunchStep("a") { _ in
      } shutDown: {
        guard let launch = box.withLock({ $0 }) else { return }
        for call in [{ try await launch.launch() }, { try await launch.launchImmediately().value }] {
          let error = await #expect(throws: LaunchError.self) { _ = try await call() }
          journal.note("\(error?.code.description ?? "")")
        }
      }
      if fails { Do { _ in throw Broken() } }
    }
    box.withLock { $0 = launch }
    let code = await withTaskGroup(of: Int32.self) { group in
      group.addTask { await launch.run(on: []) }
      if !fails {
        while launch.report == nil { await Task.yield() }
        await launch.shutDown()
      }
      return await group.reduce(0, +)
    }
    #expect(journal.entries == ["reentered", "reentered"])
    #expect(code == (fails ? 1 : 0))
  }

  @Test("a task that outlives its step can call the launch")
  func afterwards() async throws {
    let (box, later, gate) = (Box<LaunchSequence>(), Box<Task<Int, any Error>>(), AsyncLatch())
    let launch = try LaunchSequence {
      Do { _ in
        later.value.withLock {
          $0 = Task {
            await gate.wait()
            return try await box.value.withLock { $0 }?.launch().entries.count ?? 0
          }
        }
      }
      Do { _ in
        gate.open()
      }
    }
    box.value.withLock { $0 = launch }
    try await launch.launch()
    #expect(try await later.value.withLock { $0 }?.value == 2)
  }

  @Test("a step can launch another sequence, whose steps can't launch the outer one")
  func nested() async throws {
    let outerBox = Box<LaunchSequence>()
    let inner = try LaunchSequence {
      Do { _ in try await outerBox.value.withLock { $0 }?.launch() }.id("inner")
    }
    let outer = try LaunchSequence {
      Do { _ in
        let error = await #expect(throws: LaunchError.self) { try await inner.launch() }
        #expect((error?.underlying as? LaunchError)?.code == .reentered)
        #expect((error?.underlying as? LaunchError)?.id == "outer")
      }.id("outer")
    }
    outerBox.value.withLock { $0 = outer }
    try await outer.launch()
  }

  @Test("cancelling the only caller cancels running steps, and shuts completed steps down")
  func cancelled() async throws {
    let (clock, isRunning) = (TestClock(), AsyncLatch())
    let launch = try LaunchSequence(clock: clock) {
      note("log", journal)
      Do { _ in
        isRunning.open()
        try await clock.sleep(for: .seconds(60))
      }
      note("late", journal)
    }
    let task = Task { try await launch.launch() }
    await isRunning.wait()
    task.cancel()
    let error = try await #require(throws: LaunchError.self) { try await task.value }
    #expect(error.code == .cancelled)
    #expect(journal.entries == ["log", "-log"])
  }

  @Test("a launch goes on for the other callers when one is cancelled")
  func oneCancelled() async throws {
    let (gate, isRunning) = (AsyncLatch(), AsyncLatch())
    let launch = try LaunchSequence {
      Do { _ in
        isRunning.open()
        await gate.wait()
      }
    }
    let first = Task { try await launch.launch() }
    await isRunning.wait()
    let second = Task { try await launch.launch() }
    // The first caller has to be waiting before the second one is canceled. Otherwise, the second would be the last
    // caller.
    second.cancel()
    let error = try await #require(throws: LaunchError.self) { try await second.value }
    #expect(error.code == .cancelled)
    gate.open()
    #expect(try await first.value.entries.map(\.outcome) == [.completed])
  }

  @Test("a launch that was cancelled before it began can be begun later")
  func cancelledBefore() async throws {
    let launch = try LaunchSequence { note("one", journal) }
    let gate = AsyncLatch()
    let task = Task {
      await gate.wait()
      try await launch.launch()
    }
    task.cancel()
    gate.open()
    let error = try await #require(throws: LaunchError.self) { try await task.value }
    #expect(error.code == .cancelled)
    #expect(journal.entries.isEmpty)
    try await launch.launch()
    #expect(journal.entries == ["one"])
  }
}

/// A value that is set later.
final class Box<Value: Sendable>: Sendable {
  let value = Lock<Value?>(nil)
}
