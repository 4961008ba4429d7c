/// An error in how the steps of a sequence are listed, which is found before anything runs.
public struct LaunchPlanError: Error, Sendable, CustomStringConvertible {
  /// The kind of mistake.
  public let code: Code
  /// The ids of the steps at fault: a cycle from a step back to itself, or a step and what it refers to.
  public let path: [String]
  /// The source location, `Module/File.swift:line`; empty if it isn't known.
  public let place: String
  private let message: String

  init(_ code: Code, path: [String] = [], place: String, _ message: String) {
    self.code = code
    self.path = path
    self.place = place
    self.message = message
  }

  /// What is wrong, where, and what to do about it.
  ///
  /// Control characters of an id are escaped.
  public var description: String { place.isEmpty ? message : "\(place): \(message)" }
}

extension LaunchPlanError {
  /// The kinds of mistake.
  ///
  /// More may be added, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// Steps wait for each other, or a step for itself.
    public static let cycle = Code("cycle")
    /// A step refers to a step that doesn't exist.
    public static let unknownDependency = Code("unknownDependency")
    /// Two steps have one id, or a reference fits several steps.
    public static let duplicateID = Code("duplicateID")
    /// A step of the launch waits for a deferred one.
    public static let deferredDependency = Code("deferredDependency")
    /// There are no steps.
    public static let empty = Code("empty")
  }
}
