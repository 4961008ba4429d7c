/// A type that sets up one thing at launch.
///
/// ```swift
/// struct CrashInitializer: Initializable {
///   func perform(with configuration: any Configurable) throws {
///     guard let key = configuration.value(for: "Crash", key: "Key") else {
///       throw SkipInitializer("no key")
///     }
///     CrashReporter.start(key: key)
///   }
/// }
/// ```
///
/// Its methods run where the type says: on the main actor, on the actor, or on the concurrent executor. Write a method
/// without `async` if it doesn't wait; it can then be done before ``LaunchSequence/launchImmediately()`` returns.
public protocol Initializable: LaunchStepConvertible {
  /// The type itself, which has to be `Sendable`; leave it out.
  ///
  /// If the protocol itself were `Sendable`, an app's default isolation wouldn't apply to the type.
  associatedtype SendableSelf: Sendable = Self

  /// Sets the thing up, at launch, for each retry, and again at the foreground if
  /// ``shouldPerformWhenApplicationEntersForeground()`` returns true.
  ///
  /// - Throws: ``SkipInitializer`` if there is nothing to set up. Any other error is a failure, which the step's
  ///   ``FailurePolicy`` handles.
  func perform(with configuration: any Configurable) async throws

  /// Returns whether to set the thing up again when the app comes back from the background; false by default.
  func shouldPerformWhenApplicationEntersForeground() async -> Bool

  /// Undoes what ``perform(with:)`` set up, when the sequence is shut down or a later step aborts the launch.
  ///
  /// Does nothing by default.
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

/// An error that a step throws if there is nothing to set up: it is skipped.
///
/// Steps with `.after` go on; steps with `.requires` are skipped too.
public struct SkipInitializer: Error, CustomStringConvertible {
  /// The reason, for the report.
  public let reason: String
  /// The reason.
  public var description: String { reason }

  /// Creates the error.
  public init(_ reason: String) { self.reason = reason }
}
