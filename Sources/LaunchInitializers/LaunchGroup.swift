/// A named group of steps, which other steps can wait for or require as a whole.
///
/// ```swift
/// LaunchGroup("storage") {
///   DatabaseInitializer()
///   CacheInitializer().after("DatabaseInitializer")
/// }.after("logging").onFailure(.retry(2, after: .seconds(1)))
/// ```
///
/// A group is ordered like one step, and the steps in the group are ordered like the steps of a sequence. The group's
/// name is its ID. The other modifiers of a group apply to each of its steps. A step's own `.timeout` or `.stopTimeout`
/// takes precedence over the group's. A step's own `.onFailure` adds to the group's, as a second call on one step does.
/// A step with its own `.only(in:)` runs only in the stages that both the step and the group name. Groups can be
/// nested. A step that waits for a group doesn't wait for the group's deferred steps, unless the group is deferred.
public struct LaunchGroup: LaunchStepConvertible, Sendable {
  /// The group as a step.
  public let launchStep: LaunchStep

  /// Creates a group of steps with a name, which is also the ID by which other steps refer to the group.
  public init(_ name: String, @LaunchBuilder _ steps: () -> [LaunchStep]) {
    launchStep = LaunchStep(Nothing()).with { $0.members = steps() }.id(name)
  }

  /// An initializer that does nothing, because a group's `LaunchStep` needs an initializer.
  private struct Nothing: Initializable {
    func perform(with configuration: any Configurable) {}
  }
}
