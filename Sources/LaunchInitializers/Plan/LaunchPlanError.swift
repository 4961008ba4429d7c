/// Why a sequence of steps can't be launched: a mistake in how it is written, found before anything runs.
public struct LaunchPlanError: Error, Sendable, CustomStringConvertible {
  /// What kind of mistake it is.
  public let code: Code
  /// The steps that are at fault: a circle from a step back to itself, or the one that refers and what it refers to.
  public let path: [String]
  /// Where it is written: `Module/File.swift:line`; empty where that isn't known.
  public let place: String
  private let message: String

  init(_ code: Code, path: [String] = [], place: String, _ message: String) {
    self.code = code
    self.path = path
    self.place = place
    self.message = message
  }

  /// What is wrong, where it is written, and what to do.
  public var description: String { place.isEmpty ? message : "\(place): \(message)" }
}

extension LaunchPlanError {
  /// The kinds of mistake.
  ///
  /// More may come, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// Steps wait for each other, or one for itself.
    public static let cycle = Code("cycle")
    /// A step refers to one that there is not.
    public static let unknownDependency = Code("unknownDependency")
    /// Two steps have one name, so that nobody can tell which is meant.
    public static let duplicateID = Code("duplicateID")
    /// There is no step at all.
    public static let empty = Code("empty")
  }
}
