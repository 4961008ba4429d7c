internal import Support

/// Runs the first part of a task on the spot and leaves the rest to the system: `Task.immediate` for systems without.
package final class FirstPart: TaskExecutor {
  private enum State {
    case new
    case holding(UnownedJob)
    case over
  }
  private let state = Lock(State.new)

  /// Starts a task on the main actor, at once.
  @MainActor package static func start(_ body: @escaping @MainActor @Sendable () async -> Void) -> Task<Void, Never> {
    let executor = FirstPart()
    // Not on the main actor itself, which would not ask this executor. Seen from within the job it is no hop.
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
