#if os(macOS) || os(Linux)
  import Foundation
  @testable import LaunchInitializers
  import SpellRegistry
  import SpellTesting
  import Support
  import Synchronization
  import TestSupport
  import Testing

  /// Each test runs in its own process, because it blocks the threads that other tests need.
  @Suite("Blocking steps", .timeLimit(.hang)) struct BlockingTests {
    /// The number of seconds after which a signal ends a process that hangs.
    private static let limit: UInt32 = 600
    /// More steps than there are threads.
    private static let many = 8 * ProcessInfo.processInfo.activeProcessorCount

    @Test("steps that block every thread are cancelled at their timeouts, and steps without a thread never run")
    func cancelled() async {
      await #expect(processExitsWith: .success) {
        alarm(Self.limit)
        var count = 0
        // On a busy machine, the timeouts may end before any step has a thread.
        repeat {
          let journal = Journal()
          let launch = try LaunchSequence(
            maxConcurrentSteps: Self.many, cancellationGracePeriod: .patience, clock: ContinuousClock()
          ) {
            for number in 0..<Self.many {
              Do { _ in
                journal.note("began")
                let isCancelled = DispatchSemaphore(value: 0)
                await withTaskCancellationHandler {
                  block(on: isCancelled)
                } onCancel: {
                  isCancelled.signal()
                }
                throw CancellationError()
              }.id("\(number)").after().timeout(.milliseconds(50)).onFailure(.skip)
            }
          }
          let report = try await launch.launch()
          let messages = report.entries.map { $0.message ?? "" }
          #expect(report.entries.allSatisfy { $0.outcome == .failed && !$0.wasAbandoned })
          count = journal.entries.count
          #expect(messages.count { $0 == "took longer than its timeout of 50 ms" } == count)
          let rest = "did not get a thread within its timeout of 50 ms"
          #expect(messages.count { $0 == rest } == Self.many - count)
        } while count == 0
      }
    }

    @Test("steps that block every thread and ignore their cancellation are abandoned and named while they block")
    func abandoned() async {
      await #expect(processExitsWith: .success) {
        alarm(Self.limit)
        var abandoned: [String] = []
        // On a busy machine, the timeouts may end before any step has a thread.
        repeat {
          let journal = Journal()
          let (release, isOver) = (DispatchSemaphore(value: 0), Latch())
          let launch = try LaunchSequence(
            maxConcurrentSteps: Self.many, cancellationGracePeriod: .milliseconds(50), clock: ContinuousClock()
          ) {
            for number in 0..<Self.many {
              Do { _ in
                journal.note("\(number)")
                block(on: release)
              }.id("\(number)").after().timeout(.milliseconds(50))
            }
          }
          Thread.detachNewThread {
            // Steps without a thread may be abandoned before a step that blocks.
            while !isOver.isOpen,
              !launch.state.withLock({ $0.machine.courses[.launch].contains(where: \.wasAbandoned) })
            {
              sched_yield()
            }
            for _ in 0..<Self.many { release.signal() }
          }
          let error = await #expect(throws: LaunchError.self) { try await launch.launch() }
          isOver.open()
          #expect(error?.code == .timedOut)
          // On a busy machine, another step may begin when a thread is released.
          abandoned = try #require(error?.abandoned)
          #expect(abandoned.count < Self.many)
          // A step that has begun may record that a little later.
          while !Set(abandoned).isSubset(of: journal.entries) { await Task.yield() }
        } while abandoned.isEmpty
      }
    }

    @Test("steps that block the main actor during an immediate launch are abandoned and named while they block")
    func mainActor() async {
      await #expect(processExitsWith: .success) {
        alarm(Self.limit)
        let (clock, isRunning, release) = (TestClock(), AsyncLatch(), DispatchSemaphore(value: 0))
        let launch = try LaunchSequence(clock: clock) {
          Blocking(isRunning: isRunning, release: release).id("stuck").timeout(.seconds(5))
        }
        let waiting = Task.detached {
          await isRunning.wait()
          await clock.advance(through: .seconds(5), .seconds(6))
          let error = await #expect(throws: LaunchError.self) { try await launch.launch() }
          #expect(error?.code == .timedOut)
          #expect(error?.abandoned == ["stuck"])
          release.signal()
        }
        let launched = await MainActor.run { launch.launchImmediately() }
        await waiting.value
        await #expect(throws: LaunchError.self) { try await launched.value }
      }
    }

    @Test("abandoned steps that block the main actor don't hold up other steps")
    func mainActorAndSkipped() async {
      await #expect(processExitsWith: .success) {
        alarm(Self.limit)
        let (clock, isRunning, release) = (TestClock(), AsyncLatch(), DispatchSemaphore(value: 0))
        let launch = try LaunchSequence(clock: clock) {
          Blocking(isRunning: isRunning, release: release).id("stuck").timeout(.seconds(5)).onFailure(.skip)
          Do { _ in release.signal() }.id("next").after("stuck")
        }
        Task.detached {
          await isRunning.wait()
          await clock.advance(through: .seconds(5), .seconds(6))
        }
        let report = try await MainActor.run { launch.launchImmediately() }.value
        #expect(report.entries.map(\.outcome) == [.failed, .completed])
        #expect(report.entries.map(\.wasAbandoned) == [true, false])
      }
    }

    @Test("an attempt without a thread is retried at its timeout or after the grace period", arguments: [5, 6])
    func retried(end: Int) async {
      await #expect(processExitsWith: .success) { [end] in
        alarm(Self.limit)
        let (clock, isRunning, release) = (TestClock(), AsyncLatch(), DispatchSemaphore(value: 0))
        let (journal, registry) = (Journal(), InitializerRegistry())
        let isRetryable: @Sendable (any Error) -> Bool = {
          $0 is CancellationError && InitializerRegistry.current === registry
        }
        let launch = try LaunchSequence(clock: clock, log: { _ in }) {
          Blocking(isRunning: isRunning, release: release).id("blocks").after()
          Do { _ in journal.note("late") }.id("late").after().timeout(.seconds(5))
            .onFailure(.retry(.constant(.seconds(4)), times: 1, if: isRetryable))
        }
        let waiting = Task.detached {
          await isRunning.wait()
          await clock.advance(through: .seconds(5))
          await clock.waitForSleeper(until: .seconds(6))
          if end == 6 {
            clock.advance(by: .seconds(1))
            await clock.waitForSleeper(until: .seconds(10))
          }
          release.signal()
          await clock.advance(through: .seconds(end + 4))
        }
        let launched = await MainActor.run { registry.run { launch.launchImmediately() } }
        let late = try await launched.value.entry("late")
        await waiting.value
        #expect(late?.outcome == .completed)
        // The attempt that got no thread hasn't begun, and doesn't count.
        #expect(late?.attempts == 1)
        #expect(journal.entries == ["late"])
      }
    }

    private struct Blocking: Initializable {
      let isRunning: AsyncLatch
      let release: DispatchSemaphore
      func perform(with configuration: any Configurable) {
        isRunning.open()
        release.wait()
      }
    }
  }

  /// Blocks the thread, as a slow file or a lock might.
  private func block(on semaphore: DispatchSemaphore) { semaphore.wait() }
#endif
