/// An error in the list of a sequence's steps, found before anything runs.
public struct LaunchPlanError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// The ids of the steps at fault: a cycle from a step back to itself, or a step and what it refers to.
  public let path: [String]
  /// The error, and what to do about it; control characters of ids are escaped.
  public let description: String

  init(_ code: Code, path: [String] = [], _ message: String) {
    (self.code, self.path, description) = (code, path, message)
  }

  /// The kinds of errors; more may be added, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    /// Steps wait for each other, or a step for itself.
    public static let cycle = Code(description: "cycle")
    /// A step refers to a step or group that doesn't exist.
    public static let unknownDependency = Code(description: "unknownDependency")
    /// Two steps or groups have the same id, or a reference fits several steps.
    public static let duplicateID = Code(description: "duplicateID")
    /// A step of the launch waits for a deferred one.
    public static let deferredDependency = Code(description: "deferredDependency")
    /// There are no steps.
    public static let empty = Code(description: "empty")
  }
}
