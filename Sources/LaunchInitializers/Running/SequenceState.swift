internal import SpellRegistry

/// How far a sequence is, and who waits for it.
struct LaunchState {
  enum Phase {
    case new
    case launching(StepRun)
    case launched(LaunchReport)
    case failed(LaunchError)
  }

  var phase = Phase.new
  var registry = InitializerRegistry.shared
  /// The steps that completed and are not shut down, in that order.
  var completed: [Int] = []
  /// The attempts that registered services which are not withdrawn, by their steps.
  var services: [Int: StepContext] = [:]
  /// What an aborted launch shut down.
  var rollback = LaunchReport.empty

  /// Those who called for the launch and were not cancelled; the launch ends when none is left.
  var callers: Set<Int> = []
  /// Those of them who are waiting already.
  var waiters: [Int: CheckedContinuation<LaunchReport, any Error>] = [:]
  private var callerCount = 0
  /// Those who only want to know when the launch is over.
  var observers: [CheckedContinuation<Void, Never>] = []

  var foreground = ForegroundState()
  var shutDown: Task<LaunchReport, Never>?
  /// What wakes those who wait for a signal when the sequence is shut down without.
  var signals: [SignalStream] = []

  mutating func addCaller() -> Int {
    callerCount += 1
    if case .launching = phase { callers.insert(callerCount) }
    return callerCount
  }
}
