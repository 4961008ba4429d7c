/// Steps under one name, which other steps can wait for and require as a whole.
///
/// ```swift
/// LaunchGroup("storage") {
///   DatabaseInitializer()
///   CacheInitializer().after("DatabaseInitializer")
/// }.after("logging").onFailure(.retry(2, after: .seconds(1)))
/// ```
///
/// A group is ordered as one step; within it, steps are ordered as in a sequence. Its name is an id. The other modifiers
/// of a group apply to each of its steps: `.timeout`, `.stopTimeout` and `.onFailure` unless the step has its own,
/// `.only(in:)` in addition to the step's own, and `.deferred()`. Groups can be nested. What waits for a group
/// doesn't wait for its deferred steps, unless the group is deferred itself.
public struct LaunchGroup: LaunchStepConvertible, Sendable {
  /// The group as a step.
  public let launchStep: LaunchStep

  /// Creates a group of steps with a name.
  public init(_ name: String, @LaunchBuilder _ steps: () -> [LaunchStep]) {
    launchStep = LaunchStep(Nothing()).with { $0.members = steps() }.id(name)
  }

  /// In place of an initializer, which a group doesn't have.
  private struct Nothing: Initializable {
    func perform(with configuration: any Configurable) {}
  }
}
