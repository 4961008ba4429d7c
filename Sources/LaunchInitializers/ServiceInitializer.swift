/// An initializer that creates a service, and registers the service for `@Injected` properties.
///
/// ```swift
/// struct DatabaseInitializer: ServiceInitializer {
///   func makeService(with configuration: any Configurable) async throws -> Database {
///     try await Database.open(configuration.requiredValue(for: "Database", key: "Path"))
///   }
/// }
/// ```
///
/// The service is registered for properties of exactly the type ``Service``, in the registry that was current when the
/// launch began. It stays registered until the step has been shut down. If the step is repeated, the new service
/// replaces the old service, which stays registered if the repetition fails. After
/// ``LaunchSequence/launchImmediately()``, wait for the launch before you use the service.
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
  /// A type that is both a ``RunningInitializer`` and a ``ServiceInitializer`` inherits two default implementations of
  /// `perform(with:)`. Without this third, more specific implementation, calls would be ambiguous.
  public func perform(with configuration: any Configurable) async throws {
    StepContext.register(try await makeService(with: configuration))
  }
}
