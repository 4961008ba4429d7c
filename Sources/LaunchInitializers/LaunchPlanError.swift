/// An error that a ``LaunchSequence`` finds in its list of steps, before any step runs.
public struct LaunchPlanError: Error, Sendable, CustomStringConvertible {
  /// The kind of error, such as `.cycle`.
  public let code: Code
  /// The IDs of the steps or groups at fault; empty if the list has no steps.
  ///
  /// For a cycle, the list begins and ends with the ID of the same step. For an unknown ID, the list has the ID of the
  /// step that refers to the unknown ID, and then the unknown ID.
  public let path: [String]
  /// The problem, and what to do about it; control characters in IDs are escaped.
  public let description: String
  /// The same text as ``description``.
  public var errorDescription: String? { description }

  init(_ code: Code, path: [String] = [], _ message: String) {
    (self.code, self.path, description) = (code, path, message)
  }

  /// A kind of error.
  ///
  /// More kinds may be added, so a `switch` over a code needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, such as `cycle`.
    public let description: String

    /// Steps wait for each other, or a step waits for itself.
    ///
    /// The code is also used if a group refers to a step inside the group, or a step refers to a group around the step.
    public static let cycle = Code(description: "cycle")
    /// A step refers to a step or group that doesn't exist.
    public static let unknownDependency = Code(description: "unknownDependency")
    /// Two steps or groups have the same ID, or a reference matches several steps.
    public static let duplicateID = Code(description: "duplicateID")
    /// A step that isn't deferred waits for a deferred step.
    public static let deferredDependency = Code(description: "deferredDependency")
    /// The list has no steps.
    public static let empty = Code(description: "empty")
  }
}
