internal import Support
internal import SpellRegistry

/// An attempt of a step that is under way: its task, its timers, and the services that it registered.
///
/// Known to everything that the step calls, as the current one: so a launch finds out that it is called from itself,
/// and a service which step it belongs to.
final class StepAttempt: Sendable {
  @TaskLocal static var current: StepAttempt?

  let id: String
  let attempt: LaunchStateMachine.Attempt
  private let sequence: ObjectIdentifier
  private let outer: StepAttempt?

  private struct State {
    var isOver = false
    var isCancelled = false
    /// Whether the pause after the attempt is cancelled.
    var isPauseCancelled = false
    /// Whether the call that started the task has not returned yet.
    var isStarting: Bool
    var task: Task<Void, Never>?
    var timers: [LaunchTimer] = []
    /// Whether the attempt may still register services.
    var registers = true
    /// Each withdraws one service.
    var withdrawals: [@Sendable () -> Void] = []
  }
  private let state: Lock<State>

  /// - Parameters:
  ///   - outer: The step that called for the run; not the one that happens to begin this one, or a chain of steps would
  ///     keep each other.
  ///   - isStarting: Whether the first part of the step runs in the call that starts it.
  init(
    _ id: String, _ attempt: LaunchStateMachine.Attempt, of sequence: ObjectIdentifier, in outer: StepAttempt?,
    isStarting: Bool = false
  ) {
    self.id = id
    self.attempt = attempt
    self.sequence = sequence
    self.outer = outer
    state = Lock(State(isStarting: isStarting))
  }

  /// The step of that sequence that the caller is inside of; nil if it is in none.
  static func step(of sequence: LaunchSequence) -> StepAttempt? {
    let wanted = ObjectIdentifier(sequence)
    var attempt = current
    while let inner = attempt {
      if inner.sequence == wanted, !inner.state.withLock(\.isOver) { return inner }
      attempt = inner.outer
    }
    return nil
  }
}

// MARK: Running

extension StepAttempt {
  /// Whether the call that started the task has not returned yet.
  var isStarting: Bool { state.withLock(\.isStarting) }

  /// Takes the task that runs the step, which is cancelled if the attempt is.
  func start(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      state.isStarting = false
      // A task that is over would keep the attempt, and the attempt the task.
      if !state.isOver { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Takes a timer, which is cancelled when the attempt is over; one for the pause after it, when the pause is
  /// cancelled.
  func add(_ timer: LaunchTimer, isPause: Bool) {
    let isWanted = state.withLock { state in
      let isWanted = isPause ? !state.isPauseCancelled : !state.isOver
      if isWanted { state.timers.append(timer) }
      return isWanted
    }
    if !isWanted { timer.cancel() }
  }

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// Cancels the timer for the pause after the attempt, be it set already or not.
  func cancelPause() {
    let timers = state.withLock { state in
      state.isPauseCancelled = true
      return state.timers
    }
    for timer in timers { timer.cancel() }
  }

  /// Notes that the step has returned: what it left behind is no longer inside of it.
  ///
  /// - Returns: Whether the call that started the task has not returned yet.
  func end() -> Bool {
    let (timers, isStarting) = state.withLock { state in
      state.isOver = true
      state.task = nil
      defer { state.timers = [] }
      return (state.timers, state.isStarting)
    }
    for timer in timers { timer.cancel() }
    return isStarting
  }
}

// MARK: Services

extension StepAttempt {
  var hasServices: Bool { state.withLock { !$0.withdrawals.isEmpty } }

  /// Registers a service until it is withdrawn; not if the attempt was abandoned.
  func register<Service: Sendable>(_ service: Service) {
    guard state.withLock(\.registers) else { return }
    let registration = InitializerRegistry.current.substitute(instance: service)
    let isWanted = state.withLock { state in
      if state.registers { state.withdrawals.append { registration.unregister() } }
      return state.registers
    }
    if !isWanted { registration.unregister() }
  }

  /// Lets the attempt register nothing from now on, and ends its timers.
  func abandon() {
    let timers = state.withLock { state in
      state.registers = false
      defer { state.timers = [] }
      return state.timers
    }
    for timer in timers { timer.cancel() }
  }

  /// Takes from the registry what the attempt registered, the last first.
  func withdrawServices() {
    let withdrawals = state.withLock { state in
      defer { state.withdrawals = [] }
      return state.withdrawals
    }
    for withdraw in withdrawals.reversed() { withdraw() }
  }
}
