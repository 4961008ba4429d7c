internal import Locking

/// An async initializer, seen by those who cannot wait.
protocol AsyncInitializer<Value>: AnyObject, Sendable {
  associatedtype Value
}

/// What an async initializer makes: one run at a time, however many await it.
final class AsyncValue<Value: Sendable>: AsyncInitializer {
  private let initializer: @Sendable (Resolver) async throws -> Value
  private let running = Lock<Run?>(nil)

  private struct Run: Sendable {
    let generation: Int
    let task: Task<Value, any Error>
  }

  init(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) { self.initializer = initializer }

  /// Runs the initializer for this caller alone.
  func makeUnique(for question: AsyncQuestion) async throws -> Value {
    try await question.isAsking { try await initializer(question.resolver) }
  }

  /// The value that the registration keeps, else that of the run under way, else that of a run begun now.
  ///
  /// The run is a task of its own, so cancelling one that awaits it cancels it for nobody. A failure reaches all who
  /// await that run; the next to ask begins another.
  func value(keptBy entry: RegistrationRecord, for question: AsyncQuestion) async throws -> Value {
    if let value = entry.shared.current(as: Value.self) { return value }
    let task = running.withLock { running in
      // A run begun before a reset is for those who asked before it.
      let generation = entry.shared.generation
      if let running, running.generation == generation { return running.task }
      // A run may have ended between the look and the lock; it is kept before it is forgotten.
      if let value = entry.shared.current(as: Value.self) { return Task { value } }
      let task = Task {
        defer { self.running.withLock { if $0?.generation == generation { $0 = nil } } }
        let value = try await makeUnique(for: question)
        entry.shared.keep(value, madeIn: generation)
        return value
      }
      running = Run(generation: generation, task: task)
      return task
    }
    return try await task.value
  }
}
