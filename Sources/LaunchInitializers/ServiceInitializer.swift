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
/// launch began, until the step has been shut down. When the service is created again, the new instance replaces it.
/// After ``LaunchSequence/launchImmediately()``, wait for the launch before you use the service.
public protocol ServiceInitializer: Initializable {
  /// The type of the properties that get the service, such as `Database` or `any Tracker`.
  associatedtype Service: Sendable

  /// Creates the service, which all share.
  ///
  /// - Throws: What ``Initializable/perform(with:)`` throws. Nothing is registered then.
  func makeService(with configuration: any Configurable) async throws -> Service
}

extension ServiceInitializer {
  /// Creates the service and registers it in the current registry.
  public func perform(with configuration: any Configurable) async throws {
    StepContext.register(try await makeService(with: configuration))
  }
}

extension RunningInitializer where Self: ServiceInitializer {
  /// Creates the service and registers it in the current registry, for a type that is both.
  public func perform(with configuration: any Configurable) async throws {
    StepContext.register(try await makeService(with: configuration))
  }
}
