/// Thrown by a step that has nothing to set up here: a missing key, a simulator, a platform without the thing.
///
/// The step counts as skipped, with the reason as a warning in the report; those that wait for it go on.
public struct SkipInitializer: Error, CustomStringConvertible {
  /// Why.
  public let reason: String

  /// Skips the step that throws it.
  ///
  /// - Parameter reason: Why, for the report.
  public init(_ reason: String) { self.reason = reason }

  /// The reason.
  public var description: String { reason }
}
