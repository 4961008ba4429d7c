internal import Support

/// A signal of the system that ends a program.
public struct LaunchSignal: RawRepresentable, Hashable, Sendable {
  /// The signal's number.
  public let rawValue: Int32

  /// The signal with a number.
  public init(rawValue: Int32) { self.rawValue = rawValue }
}

/// What a second signal does, while the first one shuts the sequence down.
public enum SecondSignalPolicy: Sendable, Hashable {
  /// It does what it did before ``LaunchSequence/run(on:secondSignal:shutDownWithin:)``: unless a handler was set, it
  /// ends the process at once. So a second Ctrl-C ends a program that takes too long.
  case endProcess
  /// It ends the shutting down: what is under way is cancelled, and what has not begun is left out.
  case endShutDown
  /// It does nothing.
  case ignore
}

extension LaunchSequence {
  /// Launches, waits for a signal, shuts down, and returns the exit code: the whole life of a server or a command-line
  /// tool.
  ///
  /// ```swift
  /// exit(try await launch.run(on: [.terminate, .interrupt]))
  /// ```
  ///
  /// From the call on, the signals don't end the process. One that comes during the launch ends the launch: running
  /// steps are cancelled, and completed steps are shut down. Returns as well when `shutDown(within:)` is called
  /// elsewhere, or the task is cancelled. If the sequence has been launched already, only the waiting and shutting down
  /// remain.
  ///
  /// The exit code is 0 after an orderly shut-down, 1 if a step was left behind or not reached in time, and 128 plus
  /// the signal's number, as shells have it, if the signal came during the launch.
  ///
  /// Signals belong to the process: of several sequences that run at once, each one hears every signal.
  ///
  /// - Parameters:
  ///   - signals: The signals to wait for.
  ///   - secondSignal: What a second signal does during the shut-down.
  ///   - limit: How long shutting down may take; see `shutDown(within:)`.
  /// - Returns: The exit code.
  /// - Throws: What ``launch()`` throws, unless a signal ended the launch. If a service ended the sequence with an error, a
  ///   ``LaunchError`` of code `.serviceFailed`.
  /// - Precondition: There is at least one signal, and a program can wait for each: SIGKILL and SIGSTOP end it in any case.
  public func run(
    on signals: [LaunchSignal] = [.terminate, .interrupt], secondSignal: SecondSignalPolicy = .endProcess,
    shutDownWithin limit: Duration = .seconds(30)
  ) async throws -> Int32 {
    if let inner = StepAttempt.step(of: self) { throw LaunchError(reenteredBy: inner.id) }
    let listener = SignalListener(signals)
    defer { listener.finish() }
    let isShutDown = state.withLock { state in
      state.listeners.append(listener)
      return state.shutDown != nil
    }
    if isShutDown { listener.wake() }
    let stopping = Task { await stop(at: listener, secondSignal, within: limit) }
    var failure: LaunchError?
    do { try await launch() } catch let error as LaunchError {
      failure = error
      listener.wake()
    }
    let (signal, report) = await withTaskCancellationHandler {
      await stopping.value
    } onCancel: {
      listener.wake()
    }
    if let failure {
      if let signal, failure.code == .shutDown { return 128 + signal.rawValue }
      throw failure
    }
    if let failure = state.withLock(\.failure) { throw failure }
    return report.entries.allSatisfy { $0.outcome == .completed } ? 0 : 1
  }

  /// Waits for a signal, and shuts down.
  private func stop(
    at listener: SignalListener, _ secondSignal: SecondSignalPolicy, within limit: Duration
  ) async -> (LaunchSignal?, LaunchReport) {
    let signal = await listener.first()
    if secondSignal == .endProcess { listener.finish() }
    let second = Task {
      await listener.first { $0 != nil }
      if secondSignal == .endShutDown, !Task.isCancelled { beginShutDown(within: .zero) }
    }
    defer { second.cancel() }
    return (signal, await shutDown(within: limit))
  }
}
