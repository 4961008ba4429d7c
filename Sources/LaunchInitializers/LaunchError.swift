/// Why a launch came to no good end.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
  /// What kind of end it was.
  public let code: Code
  /// The step that failed, or that called for its own launch; nil where no step is at fault.
  public let id: String?
  /// What the step threw.
  public let underlying: (any Error)?
  /// What ran until then; nil where nothing had begun.
  public let report: LaunchReport?
  /// How what had completed was shut down; nil where nothing had begun.
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

  /// What happened, to which step, and what to do.
  public var description: String {
    (id.map { "Step \"\($0)\" " } ?? "The launch ") + message + (underlying.map { " [\($0)]" } ?? "")
  }

  /// Steps that went on after they had been cancelled, or took too long to shut down, and were left behind.
  public var abandoned: [String] {
    [report, rollback].compactMap(\.self).flatMap(\.entries).filter(\.wasAbandoned).map(\.id)
  }
}

extension LaunchError {
  /// The kinds of end.
  ///
  /// More may come, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// A step threw, and its policy was to abort.
    public static let stepFailed = Code("stepFailed")
    /// A step took longer than its timeout, and its policy was to abort.
    public static let timedOut = Code("timedOut")
    /// A step called for the launch that it is part of.
    public static let reentered = Code("reentered")
    /// The task that waited for the launch was cancelled.
    public static let cancelled = Code("cancelled")
    /// The sequence was shut down, before or during its launch.
    public static let shutDown = Code("shutDown")
  }
}
