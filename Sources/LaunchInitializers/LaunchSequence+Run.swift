internal import Support

/// A signal of the operating system, such as SIGTERM.
public struct LaunchSignal: RawRepresentable, Hashable, Sendable {
  /// The signal's number.
  public let rawValue: Int32

  /// Creates the signal with a number.
  public init(rawValue: Int32) { self.rawValue = rawValue }
}

/// A policy for a second signal that comes during the shut-down.
public enum SecondSignalPolicy: Sendable, Hashable {
  /// The second signal is handled as before ``LaunchSequence/run(on:secondSignal:shutDownWithin:)``: unless a handler was
  /// set, it ends the process at once. So a second Ctrl-C ends a program that takes too long.
  case endProcess
  /// The second signal ends the shut-down: steps under way are cancelled, and the remaining ones aren't shut down.
  case endShutDown
  /// The second signal does nothing.
  case ignore
}

extension LaunchSequence {
  /// Launches, waits for a signal, shuts down, and returns the exit code: the whole life of a server or command-line tool.
  ///
  /// ```swift
  /// exit(try await launch.run(on: [.terminate, .interrupt]))
  /// ```
  ///
  /// From the call on, the signals don't end the process. A signal during the launch ends the launch: running steps are
  /// cancelled, and completed steps are shut down. Also returns when `shutDown(within:)` is called elsewhere or the task is
  /// cancelled. If the sequence has been launched already, only waits and shuts down.
  ///
  /// The exit code is 0 after an orderly shut-down, and 1 if a step was left behind or not reached in time. If the signal
  /// came during the launch, it is 128 plus the signal's number, as in shells.
  ///
  /// Signals belong to the process: if several sequences run, each one receives every signal.
  ///
  /// - Parameters:
  ///   - signals: The signals to wait for.
  ///   - secondSignal: What a second signal does during the shut-down.
  ///   - limit: How long the shut-down may take; see `shutDown(within:)`.
  /// - Returns: The exit code.
  /// - Throws: What ``launch()`` throws, unless a signal ended the launch. A ``LaunchError`` of code `.serviceFailed` if an
  ///   error of a service ended the sequence.
  /// - Precondition: There is at least one signal, and a program can handle each of them; SIGKILL and SIGSTOP it can't.
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

  /// Waits for a signal, and shuts the sequence down.
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
