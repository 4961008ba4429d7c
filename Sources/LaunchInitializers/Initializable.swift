internal import SpellRegistry

/// A type that sets up one thing at launch: a library, a setting of the whole app.
///
/// ```swift
/// struct CrashInitializer: Initializable {
///   func perform(with configuration: any Configurable) throws {
///     guard let key = configuration.value(for: "Crash", key: "ApiKey") else {
///       throw SkipInitializer("no ApiKey")
///     }
///     CrashReporter.start(key: key)
///   }
/// }
/// ```
///
/// A struct, a class, an actor or a main-actor class can conform. Its methods run where the type says: a main-actor
/// class's on the main actor, an actor's on the actor, all others on the concurrent executor. Write a method without
/// `async` if it doesn't wait; it can then be done before ``LaunchSequence/launchImmediately()`` returns.
public protocol Initializable: LaunchStepConvertible {
  /// The type itself, which has to be `Sendable`.
  ///
  /// Leave it out. A protocol that is `Sendable` would keep an app's default isolation from applying to the type.
  associatedtype SendableSelf: Sendable = Self

  /// Sets the thing up.
  ///
  /// Called once at launch, once more for each retry, and again at the foreground if
  /// ``shouldPerformWhenApplicationEntersForeground()`` returns true. If the launch is aborted or the step exceeds its
  /// timeout, the task is cancelled: throw soon, or the attempt is abandoned.
  ///
  /// - Parameter configuration: The configuration that the sequence was created with.
  /// - Throws: ``SkipInitializer`` if there is nothing to set up. Any other error is a failure, which the step's
  ///   ``FailurePolicy`` handles.
  func perform(with configuration: any Configurable) async throws

  /// Returns whether to set the thing up again when the app comes back from the background.
  ///
  /// Called at each return. False by default.
  func shouldPerformWhenApplicationEntersForeground() async -> Bool

  /// Undoes what ``perform(with:)`` set up.
  ///
  /// Called after the step completed, when the sequence is shut down or a later step aborts the launch. Does nothing by
  /// default.
  ///
  /// - Throws: An error for the report of the shut-down, which goes on with the other steps.
  func shutDown() async throws
}

extension Initializable {
  /// The initializer as a step that declares nothing.
  public var launchStep: LaunchStep { LaunchStep(self) }

  /// Returns false.
  public func shouldPerformWhenApplicationEntersForeground() async -> Bool { false }

  /// Does nothing.
  public func shutDown() async throws {}
}

/// An error that a step throws if there is nothing to set up: a key is missing, or the platform lacks the feature.
///
/// The step is skipped, with the reason as a warning in the report, and the steps that wait for it go on.
public struct SkipInitializer: Error, CustomStringConvertible {
  /// The reason.
  public let reason: String

  /// Creates the error with a reason for the report.
  public init(_ reason: String) { self.reason = reason }

  /// The reason.
  public var description: String { reason }
}

// MARK: Services

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
/// launch began. When the service is created again, the new instance replaces the former one, which properties that have it
/// keep. The service is withdrawn after ``Initializable/shutDown()``, which can still resolve it. A service that comes
/// after its step was abandoned isn't registered.
public protocol ServiceInitializer: Initializable {
  /// The type of the properties that get the service, such as `Database` or `any Tracker`.
  associatedtype Service: Sendable

  /// Creates the service.
  ///
  /// - Parameter configuration: The configuration that the sequence was created with.
  /// - Returns: The service, which all share.
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
