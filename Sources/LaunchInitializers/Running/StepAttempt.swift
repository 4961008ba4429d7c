internal import SpellRegistry
internal import Support

/// An attempt of a step: its task, its timers, and the services that it registered.
///
/// It is task-local while the step runs, so a launch finds that one of its steps calls for it, and a service finds the
/// step that it belongs to.
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
    /// Whether the call that starts the task has not returned yet.
    var isStarting: Bool
    var task: Task<Void, Never>?
    var timers: [LaunchTimer] = []
    /// Whether the attempt may still register services.
    var registers = true
    /// The services that the attempt registered, and what withdraws them.
    var registered: [(service: any Sendable, withdraw: @Sendable () -> Void)] = []
  }
  private let state: Lock<State>

  /// Creates an attempt that has not begun.
  ///
  /// `outer` is the step that called for the run, not the one whose end begins this one: a chain of steps would keep each
  /// other. `isStarting` says whether the first part of the step runs in the call that starts it.
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

  /// The step of a sequence from which the caller was called; nil if it is none.
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
  /// Whether the call that starts the task has not returned yet.
  var isStarting: Bool { state.withLock(\.isStarting) }

  /// Sets the task that runs the step; cancelling the attempt cancels it.
  func start(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      state.isStarting = false
      // After the end, the task and the attempt would retain each other.
      if !state.isOver { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Keeps a timer, which the end of the attempt cancels; if it is for the pause after the attempt, ``cancelPause()`` does.
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

  /// Cancels the timer for the pause after the attempt, even if it is set later.
  func cancelPause() {
    let timers = state.withLock { state in
      state.isPauseCancelled = true
      return state.timers
    }
    for timer in timers { timer.cancel() }
  }

  /// Notes that the step has returned: what it left running no longer counts as called from it.
  ///
  /// - Returns: Whether the call that starts the task has not returned yet; and the task, if nothing cancels it any more
  ///   and another attempt can go on in it.
  func end() -> (isStarting: Bool, task: Task<Void, Never>?) {
    let (timers, isStarting, task) = state.withLock { state in
      state.isOver = true
      defer { (state.timers, state.task) = ([], nil) }
      return (state.timers, state.isStarting, state.isCancelled ? nil : state.task)
    }
    for timer in timers { timer.cancel() }
    return (isStarting, isStarting ? nil : task)
  }
}

// MARK: Services

extension StepAttempt {
  /// The services that the attempt registered, until they are withdrawn.
  var services: [any Sendable] { state.withLock { $0.registered.map { $0.service } } }

  var hasServices: Bool { state.withLock { !$0.registered.isEmpty } }

  /// Registers a service, unless the attempt was abandoned.
  func register<Service: Sendable>(_ service: Service) {
    guard state.withLock(\.registers) else { return }
    let registration = InitializerRegistry.current.substitute(instance: service)
    let isWanted = state.withLock { state in
      if state.registers { state.registered.append((service, { registration.unregister() })) }
      return state.registers
    }
    if !isWanted { registration.unregister() }
  }

  /// Keeps the attempt from registering services, and cancels its timers.
  func abandon() {
    let timers = state.withLock { state in
      state.registers = false
      defer { state.timers = [] }
      return state.timers
    }
    for timer in timers { timer.cancel() }
  }

  /// Withdraws what the attempt registered from the registry, the last first.
  func withdrawServices() {
    let registered = state.withLock { state in
      defer { state.registered = [] }
      return state.registered
    }
    for service in registered.reversed() { service.withdraw() }
  }
}

// MARK: The main actor

/// Starts a task on the main actor, and returns when it first waits.
///
/// - Precondition: The caller is on the main actor. Its type doesn't say so because it also begins steps elsewhere.
func startImmediately(_ body: @escaping @MainActor @Sendable () async -> Void) -> Task<Void, Never> {
  MainActor.assumeIsolated {
    if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
      return Task.immediate(operation: body)
    }
    // Older systems can't start a task at once from within a task; that caller can await the launch.
    guard withUnsafeCurrentTask(body: { $0 == nil }) else { return Task(operation: body) }
    return ImmediateTaskExecutor.start(body)
  }
}

/// An executor that runs the first part of a task at once and leaves the rest to the system: `Task.immediate` for systems
/// that lack it.
package final class ImmediateTaskExecutor: TaskExecutor {
  private enum State {
    case new
    case holding(UnownedJob)
    case over
  }
  private let state = Lock(State.new)

  /// Starts a task on the main actor, at once.
  @MainActor package static func start(_ body: @escaping @MainActor @Sendable () async -> Void) -> Task<Void, Never> {
    let executor = ImmediateTaskExecutor()
    // Not on the main actor itself, which would not use this executor. From within the job, going there is no hop.
    let task = Task(executorPreference: executor) { @Sendable in await body() }
    executor.run()
    return task
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = state.withLock { state in
      guard case .new = state else { return false }
      state = .holding(job)
      return true
    }
    if !isFirst { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }

  @MainActor private func run() {
    let job: UnownedJob? = state.withLock { state in
      defer { state = .over }
      return if case .holding(let job) = state { job } else { nil }
    }
    job?.runSynchronously(isolatedTo: MainActor.sharedUnownedExecutor, taskExecutor: asUnownedTaskExecutor())
  }
}
