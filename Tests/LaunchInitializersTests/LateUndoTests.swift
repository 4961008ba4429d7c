@testable import LaunchInitializers
import SpellTesting
import Support
import TestSupport
import Testing

/// A step whose attempt is abandoned, ends later, and is then undone.
private struct Cache: Initializable {
  let mayOpen: AsyncLatch
  let whenShutDown: @Sendable () async throws -> Void

  func perform(with configuration: any Configurable) async throws { await mayOpen.wait() }
  func shutDown() async throws { try await whenShutDown() }
}

@Suite("Late undoing", .timeLimit(.hang)) struct LateUndoTests {
  let clock = TestClock()
  let journal = Journal()

  /// Launches a database and a cache whose attempt is abandoned after two seconds.
  private func launch(
    _ mayOpen: AsyncLatch, grace: Duration = .seconds(1), whenShutDown: @escaping @Sendable () async throws -> Void
  ) async throws -> LaunchSequence {
    let launch = try LaunchSequence(
      configuration: NoConfiguration(), cancellationGracePeriod: grace, clock: clock, log: { _ in }
    ) {
      note("database", journal).id("database")
      Cache(mayOpen: mayOpen, whenShutDown: whenShutDown).id("cache").requires("database").timeout(.seconds(1))
        .onFailure(.skip)
    }
    let launching = Task { try await launch.launch() }
    await clock.advance(through: .seconds(1), .seconds(2))
    #expect(try await launching.value.entries.map(\.outcome) == [.completed, .failed])
    return launch
  }

  @Test("the shutdown waits for the undoing of an abandoned attempt before it shuts down what that needs")
  func order() async throws {
    let (mayOpen, isClosing, mayClose) = (AsyncLatch(), AsyncLatch(), AsyncLatch())
    let launch = try await launch(mayOpen) {
      isClosing.open()
      await mayClose.wait()
      journal.note("-cache")
    }
    mayOpen.open()
    await isClosing.wait()
    let running = Task { await launch.run(on: []) }
    let shutDown = Task { await launch.shutDown() }
    while launch.state.withLock({ $0.machine.phase != .closing }) { await Task.yield() }
    mayClose.open()
    let report = await shutDown.value
    #expect(journal.entries == ["database", "-cache", "-database"])
    #expect(report.entries.map(\.id) == ["cache", "database"])
    #expect(report.entries.map(\.outcome) == [.completed, .completed])
    #expect(await running.value == 0)
  }

  @Test("a repetition that was abandoned and completes after its step's shutdown is undone")
  func repetition() async throws {
    let (calls, gate, isUndone) = (Counter(), Gate(), AsyncLatch(opensAfter: 2))
    let launch = try LaunchSequence(clock: clock, log: { _ in }) {
      Do(
        wantsForeground: true,
        whenShutDown: {
          journal.note("-cache")
          isUndone.open()
        }
      ) { _ in
        if calls.increment() == 2 { await gate.pass() }
        journal.note("cache")
      }
    }
    try await launch.launch()
    await launch.enterBackground()
    let repeated = Task { await launch.enterForeground() }
    await gate.waitForArrival()
    let shutDown = Task { await launch.shutDown() }
    await clock.advance(through: .seconds(1))
    #expect(await shutDown.value.entries.map(\.outcome) == [.completed])
    #expect(await repeated.value.entries.map(\.wasAbandoned) == [true])
    gate.open()
    await isUndone.wait()
    #expect(journal.entries == ["cache", "-cache", "cache", "-cache"])
  }

  @Test("the exit code is 1 when the undoing of an abandoned attempt failed, before the shutdown or during it")
  func error() async throws {
    let (mayOpen, isClosed) = (AsyncLatch(), AsyncLatch())
    let launch = try await launch(mayOpen) {
      isClosed.open()
      throw Broken(number: 3)
    }
    mayOpen.open()
    await isClosed.wait()
    let running = Task { await launch.run(on: []) }
    let report = await launch.shutDown()
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries[0].message == "the shutdown of its abandoned attempt failed: Broken(number: 3)")
    #expect(report.entries[0].errors.map { $0 as? Broken } == [Broken(number: 3)])
    #expect(await running.value == 1)
  }

  @Test("the undoing of an abandoned attempt has a limit, however short the step's timeout is")
  func limit() async throws {
    let (mayOpen, isClosing, never) = (AsyncLatch(), AsyncLatch(), AsyncLatch())
    let launch = try await launch(mayOpen) {
      isClosing.open()
      await never.wait()
    }
    mayOpen.open()
    await isClosing.wait()
    let shutDown = Task { await launch.shutDown(within: .seconds(100)) }
    await clock.advance(through: .seconds(12), .seconds(13))
    let entry = await shutDown.value.entries[0]
    #expect(entry.outcome == .failed)
    #expect(
      entry.message
        == "the shutdown of its abandoned attempt ignored its cancellation for 1 s and was abandoned")
    never.open()
  }
}
