internal import SpellRegistry

/// The state of a sequence, and what waits for it.
struct SequenceState {
  enum Phase {
    case new
    case launching(LaunchRunner)
    case launched(LaunchReport)
    case failed(LaunchError)
  }

  var phase = Phase.new
  var registry = InitializerRegistry.shared
  /// How each step ended, from the launch on.
  var outcomes: [LaunchReport.Outcome] = []
  /// The attempts that registered services, by the indices of their steps, until the services are withdrawn.
  var services: [Int: StepAttempt] = [:]
  /// What an aborted launch shut down.
  var rollback = LaunchReport.empty

  /// The calls for the launch that were not cancelled; when none is left, the launch is cancelled.
  var callers: Set<Int> = []
  /// The calls that already wait.
  var waiters: [Int: CheckedContinuation<LaunchReport, any Error>] = [:]
  private var callerCount = 0
  /// The calls that only wait until the launch is over.
  var observers: [CheckedContinuation<Void, Never>] = []

  /// The services of completed steps, by the indices of the steps.
  var supervisors: [Int: ServiceSupervisor] = [:]
  /// Why the sequence is shut down, if a service failed.
  var failure: LaunchError?
  /// The run of the deferred steps.
  var deferred: (runner: LaunchRunner, report: Task<LaunchReport, Never>)?
  var lazy = LazySteps()

  var foreground = Foreground()
  var shutDown: Task<LaunchReport, Never>?
  var shutDownLimit: Duration?
  var shutDownRunner: LaunchRunner?
  /// The listeners of calls of ``LaunchSequence/run(on:)``, which a shut-down without a signal wakes.
  var listeners: [SignalListener] = []

  /// The passes through the steps at returns to the foreground.
  struct Foreground {
    /// Whether the app is in the background.
    var isInBackground = false
    /// The pass under way.
    var pass: Task<LaunchReport, Never>?
    /// The run of the pass under way.
    var runner: LaunchRunner?
    /// The pass after it, or after the launch.
    var next: Task<LaunchReport, Never>?
  }

  mutating func addCaller() -> Int {
    callerCount += 1
    if case .launching = phase { callers.insert(callerCount) }
    return callerCount
  }
}
