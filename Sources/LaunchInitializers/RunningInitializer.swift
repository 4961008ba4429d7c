/// An initializer of a service that runs as long as the program, such as a queue consumer.
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
/// When ``Initializable/perform(with:)`` has completed, ``run(_:)`` begins in a task of its own; the step has completed
/// when it has begun. When the step is shut down, ``stop()`` is called. The service has the step's `.stopTimeout` to end;
/// then its task is cancelled. After ``run(_:)`` has returned, ``Initializable/shutDown()`` is called.
public protocol RunningInitializer: Initializable {
  /// Runs the service until ``stop()`` is called or its task is cancelled.
  ///
  /// - Throws: Any error. A service that throws, or that returns unasked, has failed: the step's ``ExitPolicy`` decides
  ///   what follows. An error of a service that is being stopped is in the report of the shut-down.
  func run(_ configuration: any Configurable) async throws

  /// Asks the service to end, for example a server to answer the requests under way and accept no others.
  ///
  /// By default, cancels the service's task.
  func stop() async
}

extension RunningInitializer {
  /// Sets nothing up.
  public func perform(with configuration: any Configurable) async throws {}

  /// Cancels the service's task.
  public func stop() async { StepContext.cancelService() }
}
