public import LaunchInitializers
public import ServiceLifecycle

/// A service of a `ServiceGroup` that runs a launch sequence.
///
/// ```swift
/// let group = ServiceGroup(
///   services: [LaunchService(launch)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
///
/// The sequence is launched when the group runs. It is shut down when the group shuts down gracefully, or when the
/// service's task is canceled.
public struct LaunchService: Service {
  private let launch: LaunchSequence

  /// Creates a service that runs a launch sequence.
  public init(_ launch: LaunchSequence) { self.launch = launch }

  /// Launches the sequence, and returns when the sequence has been shut down.
  ///
  /// - Throws: A `LaunchError` if the launch fails, or if a service of the sequence fails later. A ``ShutDownError`` if
  ///   a step can't be shut down.
  public func run() async throws {
    await withGracefulShutdownHandler {
      // The service group handles the signals.
      _ = await launch.run(on: [])
    } onGracefulShutdown: {
      Task { await launch.shutDown() }
    }
    // The code `.shutDown` isn't a failure: the group requested it.
    if let failure = launch.failure, failure.code != .shutDown { throw failure }
    // The sequence is already shut down. This returns the report.
    let report = await launch.shutDown()
    if !report.entries.allSatisfy({ $0.outcome == .completed }) { throw ShutDownError(report: report) }
  }
}

/// An error about steps that couldn't be shut down after a successful launch.
public struct ShutDownError: Error, CustomStringConvertible {
  /// The report of the shutdown.
  public let report: LaunchReport

  /// A sentence that names each step that wasn't shut down, with the reason.
  public var description: String {
    let steps = report.entries.filter { $0.outcome != .completed }.map { entry in
      "\(entry.id) (\(entry.message ?? entry.outcome.rawValue))"
    }
    return "Steps weren't shut down: \(steps.joined(separator: ", "))."
  }
}
