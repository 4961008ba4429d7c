internal import Synchronization

/// Starts a task on the main actor, right here: what it does before it first waits is done when this returns.
///
/// - Precondition: The caller is on the main actor; it can't say so, since it also begins steps elsewhere.
func startImmediately(_ body: @escaping @MainActor @Sendable () async -> Void) -> Task<Void, Never> {
  MainActor.assumeIsolated {
    if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
      return Task.immediate(operation: body)
    }
    // Within a task, where older systems can't start another one, the caller can await the launch just as well.
    guard withUnsafeCurrentTask(body: { $0 == nil }) else { return Task(operation: body) }
    return FirstPart.start(body)
  }
}

/// Runs the first part of a task on the spot and leaves the rest to the system: `Task.immediate` for systems without.
package final class FirstPart: TaskExecutor {
  private enum State {
    case new
    case holding(UnownedJob)
    case over
  }
  private let state = Mutex(State.new)

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
