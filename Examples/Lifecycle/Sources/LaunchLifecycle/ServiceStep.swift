public import LaunchInitializers
public import Logging
public import ServiceLifecycle
import Synchronization

/// A `Service`, of any library, as a step of a launch sequence.
///
/// ```swift
/// let launch = try LaunchSequence(configuration: configuration) {
///   DatabaseInitializer().id("database")
///   ServiceStep(httpServer, logger: logger).id("http").requires("database")
/// }
/// ```
///
/// The service begins at launch and is supervised: `.onExit` decides what happens if it ends by itself. When the step
/// is shut down, the service is asked to shut down gracefully, as in a `ServiceGroup`. A service that takes longer than
/// the step's `.stopTimeout` is canceled.
public final class ServiceStep<Base: Service>: RunningInitializer, Sendable {
  private let service: Base
  private let logger: Logger
  private let shutDown = Mutex(ShutDown())

  private struct ShutDown {
    var isAskedFor = false
    /// Shuts down the group that runs the service.
    var trigger: AsyncStream<Void>.Continuation?
  }

  /// Creates the step of a service.
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - logger: The logger of the group that runs the service.
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

/// A service that returns when the step is stopped, which shuts the group down.
private struct ShutDownTrigger: Service {
  let shutDowns: AsyncStream<Void>

  func run() async throws {
    await cancelWhenGracefulShutdown {
      for await _ in shutDowns {}
    }
  }
}
