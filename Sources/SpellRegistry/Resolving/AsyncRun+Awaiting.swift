internal import Support

// Only `resolveAsync` awaits runs. A client that doesn't call it doesn't link this file.

extension AsyncRun {
  /// The runs that execute in this run's task, from the one that a task was created for to this one.
  ///
  /// A run whose value isn't shared executes in the task of its asker.
  private var ofSameTask: [AsyncRun] {
    sequence(first: self) { $0.record.kept == nil ? $0.asker : nil }.reversed()
  }

  /// The process-wide lock that guards the record of which run awaits which.
  private static let awaiting = Lock(())

  /// Awaits the end of this run with `wait`, on behalf of another run if there is one.
  ///
  /// - Throws: `.cycle` if this run waits, directly or through others, for `asker`, or if an initializer that waits for
  ///   the value of this run, or this run's own, started the calling task and still runs.
  func whileAwaited<Result>(
    by asker: AsyncRun?, isolation: isolated (any Actor)? = #isolation, _ wait: () async throws -> Result
  ) async throws -> Result {
    guard let asker else {
      // If the initializer awaits the task that it started, both wait forever.
      if let path = CurrentThread.current.run()?.path(from: self) {
        throw InjectionError(.cycle, through: path.map(\.record.step))
      }
      return try await wait()
    }
    // Other runs can only await the first run of the task, so that one has to tell what the task awaits.
    let task = asker.ofSameTask
    if let path = Self.awaiting.withLock({ _ in asker.await(self, in: task) }) {
      throw InjectionError(.cycle, through: path.map(\.record.step))
    }
    defer { Self.awaiting.withLock { _ in task[0].endAwaiting(self) } }
    return try await wait()
  }

  /// Records that this run awaits another one, or, if that makes a cycle, returns the cycle's runs after the other one.
  private func await(_ other: AsyncRun, in task: [AsyncRun]) -> [AsyncRun]? {
    var seen: Set<ObjectIdentifier> = []
    var paths = [[other]]
    while let path = paths.popLast(), let last = path.last {
      // A run also waits for the runs that its initializer began.
      if let rest = self.path(from: last) { return path.dropFirst() + rest }
      for next in last.state.withLock(\.awaited) where seen.insert(ObjectIdentifier(next.other)).inserted {
        paths.append(path + next.path)
      }
    }
    task[0].state.withLock { $0.awaited.append(Await(path: task.dropFirst() + [other])) }
    return nil
  }

  private func endAwaiting(_ other: AsyncRun) {
    state.withLock { state in
      if let index = state.awaited.firstIndex(where: { $0.other === other }) { state.awaited.remove(at: index) }
    }
  }
}
