/// An initializer of a service that says when it is ready.
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
/// Steps that wait for this one, and ``LaunchSequence/launch()``, wait until the service is ready.
public protocol ReadyInitializer: RunningInitializer {
  /// Runs the service as ``RunningInitializer/run(_:)`` does, and calls ``RunningService/ready()`` when it serves.
  func run(_ service: RunningService) async throws
}

extension ReadyInitializer {
  /// Runs the service for a caller that doesn't wait until it is ready.
  public func run(_ configuration: any Configurable) async throws {
    try await run(RunningService(configuration: configuration) {})
  }
}

/// A running service, as a ``ReadyInitializer`` gets it.
public struct RunningService: Sendable {
  /// The configuration that the sequence was created with.
  public let configuration: any Configurable
  private let whenReady: @Sendable () -> Void

  /// Creates what a test gives its service.
  public init(configuration: any Configurable, whenReady: @escaping @Sendable () -> Void) {
    self.configuration = configuration
    self.whenReady = whenReady
  }

  /// Says that the service serves.
  public func ready() { whenReady() }
}
