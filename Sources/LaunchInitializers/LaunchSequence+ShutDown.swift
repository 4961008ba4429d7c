internal import Locking
internal import SpellRegistry

extension LaunchSequence {
  /// Shuts down what completed, the last first, and lets nothing begin any more.
  ///
  /// A launch under way is ended: its steps are cancelled, and ``launch()`` throws an error of code `.shutDown`. Runs once
  /// however often it is called: all get the same report. A step that has a timeout has as long to shut down, and is left
  /// behind after that. Services are withdrawn from the registry after the step that made them. Called from within one of the sequence's own steps it does not wait, and returns an empty report.
  ///
  /// - Returns: The steps in the order in which they were shut down.
  @discardableResult
  public func shutDown() async -> LaunchReport {
    let task = beginShutDown()
    if StepContext.step(of: self) != nil { return .empty }
    return await task.value
  }

  private func beginShutDown() -> Task<LaunchReport, Never> {
    let (task, run, signals) = state.withLock { state in
      var run: StepRun?
      if case .launching(let launching) = state.phase { run = launching }
      if case .new = state.phase {
        state.phase = .failed(LaunchError(.shutDown, "was shut down before it began."))
      }
      let task = state.shutDown ?? Task { await self.shutDownOnce() }
      state.shutDown = task
      defer { state.signals = [] }
      return (task, run, state.signals)
    }
    for signal in signals { signal.finish() }
    run?.stop(.shutDown)
    return task
  }

  private func shutDownOnce() async -> LaunchReport {
    await launchIsOver()
    await foregroundIsOver()
    let (completed, rollback) = state.withLock { state in
      defer { state.completed = [] }
      if case .launched = state.phase {
        state.phase = .failed(LaunchError(.shutDown, "is over: the sequence was shut down."))
      }
      return (state.completed, state.rollback)
    }
    return completed.isEmpty ? rollback : await shutDown(completed)
  }

  /// Shuts steps down, the last first, each when the one before is done.
  func shutDown(_ places: [Int]) async -> LaunchReport {
    let clock = LaunchClock(clock)
    let registry = state.withLock(\.registry)
    let outer = StepContext.current
    var entries: [LaunchReport.Entry] = []
    for place in places.reversed() {
      let step = plan.steps[place]
      let start = clock.now
      let context = StepContext(step.id, of: ObjectIdentifier(self), in: outer)
      let task = StepContext.$current.withValue(context) {
        registry.run {
          Task {
            await step.initializer.shutDown()
            context.end()
          }
        }
      }
      let isDone = await task.isDone(by: step.timeout.map { start + $0 }, on: clock)
      state.withLock { $0.services.removeValue(forKey: place) }?.withdrawServices()
      entries.append(
        LaunchReport.Entry(
          id: step.id, outcome: isDone ? .completed : .failed, queued: start, start: start, end: clock.now, attempts: 1,
          message: isDone ? nil : "took longer than its timeout of \((step.timeout ?? .zero).text) and was abandoned",
          waitedFor: entries.last.map { [$0.id] } ?? [], tookPlaceOf: nil, wasAbandoned: !isDone))
    }
    return LaunchReport(entries)
  }
}

extension Task where Success == Void, Failure == Never {
  /// Waits for the task until that time, then cancels it and goes on; false where it was still running.
  fileprivate func isDone(by deadline: Duration?, on clock: LaunchClock) async -> Bool {
    guard let deadline else {
      await value
      return true
    }
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    let timer = clock.timer(at: deadline) { end.yield(false) }
    Task<Void, Never> {
      await value
      end.yield(true)
    }
    var iterator = ends.makeAsyncIterator()
    // Never nil: the stream is not finished, and nobody cancels the task that shuts down.
    let isDone = await iterator.next() ?? false
    timer.cancel()
    if !isDone { cancel() }
    return isDone
  }
}
