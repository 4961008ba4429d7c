internal import Support

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
