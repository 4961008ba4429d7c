public import LaunchInitializers
public import Logging
public import ServiceLifecycle

/// A `Service`, of any library, as a step of a launch sequence.
///
/// ```swift
/// let launch = try LaunchSequence(configuration: configuration) {
///   DatabaseInitializer().id("database")
///   ServiceStep(httpServer, logger: logger).id("http").requires("database")
/// }
/// ```
///
/// The service begins at launch and is supervised: `.onExit` says what follows if it ends by itself. When the step is shut down,
/// the service is asked to shut down gracefully, as a `ServiceGroup` asks it; the step's `.stopTimeout` limits how long it may
/// take.
public struct ServiceStep<Base: Service>: RunningInitializer {
  private let service: Base
  private let logger: Logger

  /// Creates the step of a service.
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - logger: The logger of the group that runs it.
  public init(_ service: Base, logger: Logger) {
    self.service = service
    self.logger = logger
  }

  /// Runs the service until it returns or throws, or the task is cancelled and it has shut down.
  public func run(_ configuration: any Configurable) async throws {
    let (shutDowns, shutDown) = AsyncStream.makeStream(of: Void.self)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup),
          // Turns the cancellation into a graceful shut-down, however early it comes.
          .init(service: ShutDownTrigger(shutDowns: shutDowns), successTerminationBehavior: .gracefullyShutdownGroup),
        ],
        logger: logger))
    // A task that the cancellation doesn't reach: it cancels services at once, before they can shut down.
    let running = Task { try await group.run() }
    try await withTaskCancellationHandler {
      try await running.value
    } onCancel: {
      shutDown.finish()
    }
  }
}

/// Returns when a test says so, which shuts the group down.
private struct ShutDownTrigger: Service {
  let shutDowns: AsyncStream<Void>

  func run() async throws {
    await cancelWhenGracefulShutdown {
      for await _ in shutDowns {}
    }
  }
}
