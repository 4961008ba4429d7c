public import LaunchInitializers
public import Logging
public import ServiceLifecycle
import Synchronization

/// A launch step that runs a `Service` from any library.
///
/// ```swift
/// let launch = try LaunchSequence(configuration: configuration) {
///   DatabaseInitializer().id("database")
///   ServiceStep(httpServer, logger: logger).id("http").requires("database")
/// }
/// ```
///
/// The service starts at launch. The step's `.onExit` decides what happens if the service ends by itself. When the step
/// is shut down, the service is asked to shut down gracefully, like the services of a `ServiceGroup`. A service that
/// takes longer than the step's `.stopTimeout` is canceled.
public final class ServiceStep<Base: Service>: RunningInitializer, Sendable {
  private let service: Base
  private let logger: Logger
  private let shutDown = Mutex(ShutDown())

  private struct ShutDown {
    var isAskedFor = false
    /// The continuation that shuts down the service's group when finished, or nil before the service runs.
    var trigger: AsyncStream<Void>.Continuation?
  }

  /// Creates a step that runs a service.
  ///
  /// - Parameters:
  ///   - service: The service to run.
  ///   - logger: The logger for the `ServiceGroup` that runs the service.
  public init(_ service: Base, logger: Logger) {
    self.service = service
    self.logger = logger
  }

  /// Runs the service until it returns or throws, or until it has shut down.
  public func run(_ configuration: any Configurable) async throws {
    let (shutDowns, trigger) = AsyncStream.makeStream(of: Void.self)
    let isAskedFor = shutDown.withLock { shutDown in
      shutDown.trigger = trigger
      return shutDown.isAskedFor
    }
    if isAskedFor { trigger.finish() }
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup),
          .init(service: ShutDownTrigger(shutDowns: shutDowns), successTerminationBehavior: .gracefullyShutdownGroup),
        ],
        logger: logger))
    try await group.run()
  }

  /// Asks the service to shut down gracefully.
  public func stop() async {
    let trigger = shutDown.withLock { shutDown in
      shutDown.isAskedFor = true
      return shutDown.trigger
    }
    trigger?.finish()
  }
}

/// A helper service that returns when the step is stopped, and thereby shuts down its group.
private struct ShutDownTrigger: Service {
  let shutDowns: AsyncStream<Void>

  func run() async throws {
    await cancelWhenGracefulShutdown {
      for await _ in shutDowns {}
    }
  }
}
