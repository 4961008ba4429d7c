internal import SpellRegistry

/// How far a sequence is, and what waits for it.
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
  /// The attempts that registered services which are not withdrawn, by their steps.
  var services: [Int: StepAttempt] = [:]
  /// What an aborted launch shut down.
  var rollback = LaunchReport.empty

  /// The calls for the launch that were not cancelled; the launch ends when none is left.
  var callers: Set<Int> = []
  /// Those of them that wait already.
  var waiters: [Int: CheckedContinuation<LaunchReport, any Error>] = [:]
  private var callerCount = 0
  /// What only waits until the launch is over.
  var observers: [CheckedContinuation<Void, Never>] = []

  /// The services of completed steps, by their steps.
  var supervisors: [Int: ServiceSupervisor] = [:]
  /// Why the sequence is shut down, if a service failed.
  var failure: LaunchError?
  /// The run of the deferred steps.
  var deferred: (runner: LaunchRunner, report: Task<LaunchReport, Never>)?

  var foreground = Foreground()
  var shutDown: Task<LaunchReport, Never>?
  var shutDownLimit: Duration?
  var shutDownRunner: LaunchRunner?
  /// What wakes a ``LaunchSequence/run(on:)`` when the sequence is shut down without a signal.
  var listeners: [SignalListener] = []

  /// The app's way between background and foreground.
  struct Foreground {
    /// Whether the app went to the background and has not returned since.
    var isInBackground = false
    /// The pass under way.
    var pass: Task<LaunchReport, Never>?
    /// The steps of the pass under way.
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
