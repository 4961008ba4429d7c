public import SpellRegistry

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
/// launch began, or for the key of ``provides(_:)``. It stays registered until the step has been shut down, and hides
/// what was registered before: what it hid then serves again. ``shutDown(_:)-(Service)`` closes it. If the step is
/// repeated, the new service takes the old one's place, and the old one is closed. After
/// ``LaunchSequence/launchImmediately()``, wait for the launch before you use the service.
public protocol ServiceInitializer: Initializable {
  /// The type of the properties that get the service, such as `Database` or `any Tracker`.
  associatedtype Service: Sendable

  /// Creates the service that all properties of its type share.
  ///
  /// - Throws: Any error that ``Initializable/perform(with:)`` may throw. If the method throws, nothing is registered.
  func makeService(with configuration: any Configurable) async throws -> Service

  /// Closes a service that ``makeService(with:)`` created; by default, does nothing.
  ///
  /// ```swift
  /// func shutDown(_ pool: ConnectionPool) async throws { try await pool.close() }
  /// ```
  ///
  /// The sequence calls this method once for each service: at the step's shutdown before ``Initializable/shutDown()``,
  /// after a repetition has replaced the service, and after an attempt that made the service but then failed, was
  /// skipped, or ended only after it had been abandoned. During the call, requests for the service still get it.
  ///
  /// - Throws: An error, which the report of the shutdown shows. The other steps are still shut down.
  func shutDown(_ service: Service) async throws
}

extension ServiceInitializer {
  /// Creates the service and registers it in the current registry.
  public func perform(with configuration: any Configurable) async throws {
    StepContext.keep(try await makeService(with: configuration), of: self)
  }

  /// Does nothing, for a service that needs no closing.
  public func shutDown(_ service: Service) async throws {}

  /// Makes a declared key give the step's service while the step is up, in place of the service's type.
  ///
  /// ```swift
  /// DatabaseInitializer().provides(.database).id("database")
  /// ```
  ///
  /// Before the step has completed and after its shutdown, the key gives what it gave otherwise. Two steps can so make
  /// services of one type, each for a key of its own.
  public func provides(_ key: InjectionKey<Service>) -> LaunchStep { launchStep.with { $0.key = key } }
}

extension RunningInitializer where Self: ServiceInitializer {
  /// Creates the service and registers it in the current registry.
  ///
  /// A type that is both a ``RunningInitializer`` and a ``ServiceInitializer`` inherits two default implementations of
  /// `perform(with:)`. Without this third, more specific implementation, calls would be ambiguous.
  public func perform(with configuration: any Configurable) async throws {
    StepContext.keep(try await makeService(with: configuration), of: self)
  }
}
