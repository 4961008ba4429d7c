/// An initializer with a service that runs as long as the program, such as a queue consumer.
///
/// ```swift
/// struct Consumer: RunningInitializer {
///   func run(_ configuration: any Configurable) async throws {
///     for await message in queue.messages { handle(message) }
///   }
/// }
///
/// Consumer().requires("db").onExit(.restart(max: 3, within: .seconds(60)))
/// ```
///
/// After ``Initializable/perform(with:)`` has completed, ``run(_:)`` begins, and the step counts as completed. When the
/// step is shut down, ``stop()`` is called. If the service doesn't end within the step's `.stopTimeout`, its task is
/// canceled. After ``run(_:)`` has returned, ``Initializable/shutDown()`` is called.
public protocol RunningInitializer: Initializable {
  /// Runs the service until ``stop()`` is called or its task is canceled.
  ///
  /// - Throws: Any error. If the service throws, or returns without being asked to end, the step's ``ExitPolicy``
  ///   decides what follows. If the service throws an error while it is being stopped, the report of the shutdown
  ///   includes the error.
  func run(_ configuration: any Configurable) async throws

  /// Asks the service to end; a server, for example, finishes the current requests and accepts no new requests.
  ///
  /// By default, cancels the service's task.
  func stop() async
}

extension RunningInitializer {
  /// Does nothing, for a service that needs no setup.
  public func perform(with configuration: any Configurable) async throws {}

  /// Cancels the service's task.
  public func stop() async { StepContext.cancelService() }
}
