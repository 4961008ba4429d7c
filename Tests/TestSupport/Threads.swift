internal import Dispatch
internal import Foundation
package import Testing

/// Runs `body` on a new thread, which may block without delaying any task.
package func onThread<Result: Sendable>(
  stackSize: Int = 1 << 20, _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: body()) }
    thread.stackSize = stackSize
    thread.start()
  }
}

/// Starts a thread, whose error fails the test.
package func startThread(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () throws -> Void
) {
  Thread.detachNewThread {
    do { try body() } catch { Issue.record(error, sourceLocation: sourceLocation) }
  }
}

/// Runs `body` on a number of threads that begin at once, and returns the results.
package func onThreads<Result: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) -> Result
) async -> [Result] {
  let barrier = Barrier(of: count)
  return await race(count) { index in
    await onThread {
      barrier.wait()
      return body(index)
    }
  }
}

/// Runs each body on a new thread, and waits for all.
package func onThreads(_ bodies: (@Sendable () -> Void)...) async {
  _ = await race(bodies.count) { [bodies] index in await onThread(bodies[index]) }
}

/// Runs `body` in a number of tasks, and returns the results.
package func race<Result: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) async -> Result
) async -> [Result] {
  await withTaskGroup(of: Result.self) { group in
    for index in 0..<count { group.addTask { await body(index) } }
    return await group.reduce(into: []) { $0.append($1) }
  }
}

/// A task executor with its own thread, which the tasks may block without delaying tasks of other tests.
package final class ThreadExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "TestSupport.ThreadExecutor")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// An executor for an actor that may block its thread.
package final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "QueueExecutor")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
