/// An error that ended a launch.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// The id of the step that failed, or that called for its own launch; nil if no step is at fault.
  public let id: String?
  /// The error that the step threw.
  public let underlying: (any Error)?
  /// What ran until then; nil if nothing had begun.
  public let report: LaunchReport?
  /// How the completed steps were shut down; nil if nothing had begun.
  public let rollback: LaunchReport?
  private let message: String

  init(
    _ code: Code, id: String? = nil, underlying: (any Error)? = nil, report: LaunchReport? = nil,
    rollback: LaunchReport? = nil, _ message: String
  ) {
    self.code = code
    self.id = id
    self.underlying = underlying
    self.report = report
    self.rollback = rollback
    self.message = message
  }

  /// What happened, and to which step.
  ///
  /// Control characters of an id or an error are escaped.
  public var description: String {
    (id.map { "Step \($0.quoted) " } ?? "The launch ") + message + (underlying.map { " [\("\($0)".escaped)]" } ?? "")
  }

  init(reenteredBy id: String) {
    self.init(
      .reentered, id: id,
      "calls for the launch that it is part of, and would wait for itself. Let it do its part and return.")
  }

  /// The ids of the steps that went on after they had been cancelled, and were left behind.
  public var abandoned: [String] {
    [report, rollback].compactMap(\.self).flatMap(\.entries).filter(\.wasAbandoned).map(\.id)
  }
}

extension LaunchError {
  /// The kinds of errors.
  ///
  /// More may be added, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// A step threw, and its policy was to abort.
    public static let stepFailed = Code("stepFailed")
    /// A step took longer than its timeout, and its policy was to abort.
    public static let timedOut = Code("timedOut")
    /// A service ended with an error, and its policy is to shut down.
    public static let serviceFailed = Code("serviceFailed")
    /// A step called for the launch that it is part of.
    public static let reentered = Code("reentered")
    /// The task that waited for the launch was cancelled.
    public static let cancelled = Code("cancelled")
    /// The sequence was shut down, before or during its launch.
    public static let shutDown = Code("shutDown")
  }
}
