import LaunchInitializers
import Support
import SpellTesting
import Synchronization
import TestSupport
import Testing

struct NoConfiguration: Configurable {
  var serviceStorage: ServiceStorage = [:]
  var stage = ReleaseStage.test
  func currentStage() -> ReleaseStage { stage }
  static func defaultConfiguration() -> NoConfiguration { NoConfiguration() }
}

struct Broken: Error, Equatable {
  var number = 0
}

extension LaunchSequence {
  /// Creates a sequence without a configuration, on a clock that only a test moves.
  ///
  /// The default limits of a sequence are therefore never reached, however busy the machine is. If a test is about the
  /// system's clock, pass that clock, and give the steps ``LaunchStepConvertible/patient()``.
  convenience init(
    maxConcurrentSteps: Int = 8, cancellationGracePeriod: Duration = .seconds(1),
    clock: any Clock<Duration> = TestClock(), log: (@Sendable (String) -> Void)? = nil,
    @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws(LaunchPlanError) {
    try self.init(
      configuration: NoConfiguration(), maxConcurrentSteps: maxConcurrentSteps,
      cancellationGracePeriod: cancellationGracePeriod, clock: clock, log: log, steps)
  }
}

extension Duration {
  /// A limit on the system's clock that even a busy machine doesn't reach.
  static let patience = Duration.seconds(3_600)
}

extension LaunchStepConvertible {
  /// Gives the step a stop timeout that even a busy machine doesn't reach, for a launch on the system's clock.
  func patient() -> LaunchStep { stopTimeout(.patience) }
}

/// A step that runs the test's closures.
struct Do: Initializable {
  var wantsForeground = false
  var whenShutDown: @Sendable () async -> Void = {}
  let body: @Sendable (any Configurable) async throws -> Void

  init(
    wantsForeground: Bool = false, whenShutDown: @escaping @Sendable () async -> Void = {},
    _ body: @escaping @Sendable (any Configurable) async throws -> Void
  ) {
    self.wantsForeground = wantsForeground
    self.whenShutDown = whenShutDown
    self.body = body
  }

  func perform(with configuration: any Configurable) async throws { try await body(configuration) }
  func shouldPerformWhenApplicationEntersForeground() async -> Bool { wantsForeground }
  func shutDown() async { await whenShutDown() }
}

/// Returns a step that records its name, and its name with a minus sign when it is shut down.
func note(_ name: String, _ journal: Journal, again: Bool = false) -> Do {
  Do(wantsForeground: again, whenShutDown: { journal.note("-\(name)") }, { _ in journal.note(name) })
}

/// Returns a step that takes some time on a clock.
func take(_ duration: Duration, on clock: TestClock) -> Do {
  Do { _ in try await clock.sleep(for: duration) }
}

extension LaunchReport {
  func entry(_ id: String) -> Entry? { entries.first { $0.id == id } }
}

extension TestClock {
  /// Advances by each duration in turn, once a task sleeps.
  func pass(_ durations: Duration...) async {
    for duration in durations {
      await waitForSleepers(1)
      advance(by: duration)
    }
  }

  /// Advances to each time in turn, once a task sleeps until then.
  func advance(through times: Duration...) async {
    for time in times {
      await waitForSleeper(until: time)
      advance(to: Instant(offset: time))
    }
  }
}
