public import LaunchInitializers
public import ServiceLifecycle

/// A launch sequence as a service of a `ServiceGroup`.
///
/// ```swift
/// let group = ServiceGroup(
///   services: [LaunchService(launch)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
///
/// The sequence is launched when the group runs, and shut down when the group shuts down gracefully, or the service's
/// task is canceled.
public struct LaunchService: Service {
  private let launch: LaunchSequence

  /// Creates the service of a sequence.
  public init(_ launch: LaunchSequence) { self.launch = launch }

  /// Launches, and returns when the sequence has been shut down.
  ///
  /// - Throws: A `LaunchError` if the launch fails, or if a service of the sequence fails later; a ``ShutDownError`` if
  ///   a step can't be shut down.
  public func run() async throws {
    await withGracefulShutdownHandler {
      // The group handles the signals.
      _ = await launch.run(on: [])
    } onGracefulShutdown: {
      Task { await launch.shutDown() }
    }
    // If the launch was shut down, the group asked for it.
    if let failure = launch.failure, failure.code != .shutDown { throw failure }
    // The shutdown has ended, so this call only returns its report.
    let report = await launch.shutDown()
    if !report.entries.allSatisfy({ $0.outcome == .completed }) { throw ShutDownError(report: report) }
  }
}

/// An error about steps that couldn't be shut down after a successful launch.
public struct ShutDownError: Error, CustomStringConvertible {
  /// The report of the shutdown.
  public let report: LaunchReport

  /// A sentence that names the steps and the reasons.
  public var description: String {
    let steps = report.entries.filter { $0.outcome != .completed }.map { entry in
      "\(entry.id) (\(entry.message ?? entry.outcome.rawValue))"
    }
    return "Steps weren't shut down: \(steps.joined(separator: ", "))."
  }
}
