internal import Locking

extension LaunchSequence {
  /// Waits for one of some signals of the system, then shuts down.
  ///
  /// The last line of a server or a command-line tool:
  ///
  /// ```swift
  /// try await launch.launch()
  /// await launch.shutDown(on: [SIGTERM, SIGINT])
  /// ```
  ///
  /// The signals don't end the process while it waits. From the first one on they do what they did before, so that a
  /// second Ctrl-C ends a program that takes too long. Goes on too when the sequence is shut down in another way, or the
  /// task is cancelled.
  ///
  /// - Parameter signals: The signals' numbers.
  /// - Returns: The steps in the order in which they were shut down.
  @discardableResult
  public func shutDown(on signals: [Int32]) async -> LaunchReport {
    let stream = SignalStream(signals)
    let isOver = state.withLock { state in
      state.signals.append(stream)
      return state.shutDown != nil
    }
    if isOver { stream.finish() }
    await stream.first()
    return await shutDown()
  }
}
