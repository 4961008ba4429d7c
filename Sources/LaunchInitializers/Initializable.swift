/// A type that sets up one part of a program at launch.
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
/// The methods run on the actor to which the type is isolated, such as the main actor. If the type isn't isolated, they
/// usually run on the concurrent executor. If a method doesn't wait, write it without `async`. Then
/// ``LaunchSequence/launchImmediately()`` can run it on the main actor, and complete the step before returning.
///
/// An attempt whose actor is busy hasn't begun: it may be retried after its timeout, and never runs later. That is so
/// for an actor, and for a conformance that is isolated to the main actor, as `: @MainActor Initializable` declares. If
/// only the type or its methods are isolated, the sequence can't see that they wait, and the attempt counts as begun.
public protocol Initializable: LaunchStepConvertible {
  /// The conforming type, which has to be `Sendable`.
  ///
  /// Don't declare this type yourself. The protocol has this associated type instead of inheriting from `Sendable`,
  /// because an app's default isolation doesn't apply to types that conform to a protocol inheriting from `Sendable`.
  associatedtype SendableSelf: Sendable = Self

  /// Sets up the part of the program that this initializer is for, with the values of the sequence's configuration.
  ///
  /// The sequence calls this method at launch and for each retry. When the app returns to the foreground, the sequence
  /// calls it again if ``shouldPerformWhenApplicationEntersForeground()`` returns true.
  ///
  /// - Throws: ``SkipInitializer`` if there is nothing to set up. Any other error is a failure, which the step's
  ///   ``FailurePolicy`` handles.
  func perform(with configuration: any Configurable) async throws

  /// Returns whether to call ``perform(with:)`` again when the app returns to the foreground; false by default.
  func shouldPerformWhenApplicationEntersForeground() async -> Bool

  /// Undoes what ``perform(with:)`` set up, when the sequence is shut down or the launch is aborted.
  ///
  /// An attempt that ignores its cancellation is abandoned, but it may still complete later. If that attempt began at
  /// launch, the sequence calls this method as soon as the attempt completes. If the attempt began at a return to the
  /// foreground, the sequence does so only if the step's shutdown has already begun. By default, this method does
  /// nothing.
  ///
  /// - Throws: An error, which the report of the shutdown shows. The other steps are still shut down.
  func shutDown() async throws
}

extension Initializable {
  /// The initializer as a step without modifiers.
  public var launchStep: LaunchStep { LaunchStep(self) }

  /// Returns false, so that the step isn't repeated when the app returns to the foreground.
  public func shouldPerformWhenApplicationEntersForeground() async -> Bool { false }
  /// Does nothing, for an initializer that has nothing to undo.
  public func shutDown() async throws {}
}

/// An error that a step throws if it has nothing to set up, so that the sequence reports the step as skipped.
///
/// Steps that wait for the skipped step with `.after` still run. Steps that require it with `.requires` are skipped.
public struct SkipInitializer: Error, CustomStringConvertible {
  /// The reason that the report shows.
  public let description: String
  /// The same text as ``description``.
  public var errorDescription: String? { description }

  /// Creates an error with the reason that the report shows.
  public init(_ reason: String) { description = reason }
}
