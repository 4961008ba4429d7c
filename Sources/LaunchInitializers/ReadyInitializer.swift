/// An initializer with a service that reports when it is ready.
///
/// ```swift
/// struct HTTPServer: ReadyInitializer {
///   func run(_ service: RunningService) async throws {
///     let server = try await Server.bind(port: 8080)
///     service.ready()
///     try await server.serve()
///   }
/// }
/// ```
///
/// ``LaunchSequence/launch()``, and the steps that depend on this step, wait until the service is ready. The step fails
/// if the service throws, returns, or exceeds the step's timeout before it is ready. The step's ``FailurePolicy`` then
/// applies. If no retry is left, the step's ``ExitPolicy`` may restart the service or go on without it.
public protocol ReadyInitializer: RunningInitializer {
  /// Runs the service until it is asked to end, and calls ``RunningService/ready()`` as soon as the service is ready.
  func run(_ service: RunningService) async throws
}

extension ReadyInitializer {
  /// Runs the service for a caller that doesn't need to know when the service is ready.
  public func run(_ configuration: any Configurable) async throws {
    try await run(RunningService(configuration: configuration) {})
  }
}

/// The context of a service's run, with which a ``ReadyInitializer`` reports that its service is ready.
public struct RunningService: Sendable {
  /// The configuration that the sequence was created with.
  public let configuration: any Configurable
  private let whenReady: @Sendable () -> Void

  /// Creates a context, for a test that runs a service without a sequence.
  public init(configuration: any Configurable, whenReady: @escaping @Sendable () -> Void) {
    (self.configuration, self.whenReady) = (configuration, whenReady)
  }

  /// Reports that the service is ready, so that its step counts as completed.
  public func ready() { whenReady() }
}
