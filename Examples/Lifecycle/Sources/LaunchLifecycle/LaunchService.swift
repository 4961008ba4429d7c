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
/// The sequence is launched when the group runs, and shut down when the group shuts down gracefully, or the service's task is
/// cancelled.
public struct LaunchService: Service {
  private let launch: LaunchSequence

  /// Creates the service of a sequence.
  public init(_ launch: LaunchSequence) { self.launch = launch }

  /// Launches, and returns when the sequence has been shut down.
  ///
  /// - Throws: A `LaunchError` if the launch fails, or if a service of the sequence does later.
  public func run() async throws {
    let events = launch.events
    try await withGracefulShutdownHandler {
      do {
        try await launch.launch()
        // Ends when the sequence has been shut down, or the task is cancelled.
        for await _ in events {}
        await launch.shutDown()
        // Throws why the sequence is over.
        try await launch.launch()
      } catch let error as LaunchError where error.code == .shutDown {
        // As it was asked to.
      }
    } onGracefulShutdown: {
      Task { await launch.shutDown() }
    }
  }
}
