/// An initializer that creates a service for `@Injected` properties and the registry.
///
/// ```swift
/// struct DatabaseInitializer: ServiceInitializer {
///   func makeService(with configuration: any Configurable) async throws -> Database {
///     try await Database.open(configuration.requiredValue(for: "Database", key: "Path"))
///   }
/// }
/// ```
///
/// The instance is registered for properties of exactly the type ``Service``, in the registry that was current when the
/// launch began, until the step has been shut down. If the step is repeated, the new instance replaces the old
/// instance. After ``LaunchSequence/launchImmediately()``, wait for the launch before you use the service.
public protocol ServiceInitializer: Initializable {
  /// The type of the properties that get the service, such as `Database` or `any Tracker`.
  associatedtype Service: Sendable

  /// Creates the service that all properties of its type share.
  ///
  /// - Throws: Any error that ``Initializable/perform(with:)`` may throw. If the method throws, nothing is registered.
  func makeService(with configuration: any Configurable) async throws -> Service
}

extension ServiceInitializer {
  /// Creates the service and registers it in the current registry.
  public func perform(with configuration: any Configurable) async throws {
    StepContext.register(try await makeService(with: configuration))
  }
}

extension RunningInitializer where Self: ServiceInitializer {
  /// Creates the service and registers it in the current registry.
  ///
  /// Without this method, a type that is both a ``RunningInitializer`` and a ``ServiceInitializer`` would have two
  /// ambiguous defaults.
  public func perform(with configuration: any Configurable) async throws {
    StepContext.register(try await makeService(with: configuration))
  }
}
