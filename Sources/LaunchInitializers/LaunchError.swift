internal import Support

/// An error that ended a launch, a launched sequence, or only one call of a method such as `launch()`.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
  /// The kind of error, such as `.stepFailed`.
  public let code: Code
  /// The ID of the step that failed, or that called `launch()` of its own sequence; nil if no step is at fault.
  public let id: String?
  /// The first error that the step, its rollback or its service threw; nil if there is none, as after most timeouts.
  public let underlying: (any Error)?
  /// All errors of the steps' attempts, rollbacks, services and shutdowns, in order.
  ///
  /// If the sequence canceled a step, the step's `CancellationError`, or its `InjectionError` of the code `.cancelled`,
  /// isn't in the list. Of more than a hundred errors, the list has the first fifty and the latest fifty.
  public let errors: [any Error]
  /// The report of the launch; nil if the error ended only one call, but not the launch.
  public let report: LaunchReport?
  /// The report of the shutdown of the completed steps; nil if ``report`` is nil.
  public let rollback: LaunchReport?
  /// A text with the step's ID and the problem; control characters are escaped.
  public let description: String
  /// The same text as ``description``.
  public var errorDescription: String? { description }

  init(
    _ code: Code, id: String? = nil, underlying: (any Error)? = nil, errors: [any Error] = [],
    report: LaunchReport? = nil, rollback: LaunchReport? = nil, _ message: String
  ) {
    (self.code, self.id, self.underlying, self.errors) = (code, id, underlying, errors)
    (self.report, self.rollback) = (report, rollback)
    description = (id.map { "Step \($0.quoted) " } ?? "The launch ") + message.escaped
  }

  init(reenteredBy id: String) {
    self.init(
      .reentered, id: id,
      "calls the launch that it is part of, and would wait for itself. Remove the call; a step doesn't wait for its launch."
    )
  }

  static let overMessage = "is over because the sequence was shut down. Create a new sequence to launch again."
  static let unbegunMessage = "was cancelled before it began. Call launch() again to begin it."
  static let callerMessage = "goes on for other callers; the task of this caller was cancelled."

  /// The IDs of the steps that ignored their cancellation and were abandoned.
  public var abandoned: [String] {
    [report, rollback].compactMap(\.self).flatMap(\.entries).filter(\.wasAbandoned).map(\.id)
  }

  /// A kind of error.
  ///
  /// More kinds may be added, so a `switch` over a code needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, such as `stepFailed`.
    public let description: String

    /// A step threw an error, and the step's failure policy aborts the launch.
    public static let stepFailed = Code(description: "stepFailed")
    /// A step exceeded its timeout or wasn't ready in time, and the step's policy aborts the launch.
    public static let timedOut = Code(description: "timedOut")
    /// A service failed, and the service's exit policy shuts the sequence down.
    ///
    /// The service threw an error, returned without being asked to, or wasn't ready in time after a restart.
    public static let serviceFailed = Code(description: "serviceFailed")
    /// A step called `launch()`, or a similar method, of the sequence that the step belongs to.
    public static let reentered = Code(description: "reentered")
    /// The task that awaited the launch was canceled.
    public static let cancelled = Code(description: "cancelled")
    /// The sequence was shut down before or during its launch, or before the call that threw the error.
    public static let shutDown = Code(description: "shutDown")
  }
}
