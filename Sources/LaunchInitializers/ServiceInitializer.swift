internal import SpellRegistry

/// A step that makes a service, which `@Injected` properties and the registry have from then on.
///
/// ```swift
/// struct DatabaseInitializer: ServiceInitializer {
///   func makeService(with configuration: any Configurable) async throws -> Database {
///     try await Database.open(configuration.requiredValue(for: "Database", key: "Path"))
///   }
/// }
/// ```
///
/// The one instance is registered in the registry that was current when the launch began, for properties of exactly
/// ``Service``. When it is made again, it takes the former one's place; properties that have theirs keep it. After
/// ``Initializable/shutDown()``, which can still ask the registry for it, it is withdrawn. Where it comes so late that
/// the step has been abandoned, it is not registered at all.
public protocol ServiceInitializer: Initializable {
  /// The type of the properties that get the service; `any Tracker` is one.
  associatedtype Service: Sendable

  /// Makes the service.
  ///
  /// - Parameter configuration: The configuration that the sequence was made with.
  /// - Returns: The service, to be shared by all.
  /// - Throws: As ``Initializable/perform(with:)``; then nothing is registered.
  func makeService(with configuration: any Configurable) async throws -> Service
}

extension ServiceInitializer {
  /// Makes the service and registers it in the current registry.
  public func perform(with configuration: any Configurable) async throws {
    let service = try await makeService(with: configuration)
    if let context = StepAttempt.current {
      context.register(service)
    } else {
      InitializerRegistry.current.register(instance: service)
    }
  }
}
