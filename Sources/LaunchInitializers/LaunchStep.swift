internal import SpellRegistry

/// A step of a ``LaunchSequence``: an initializer, a group or closures, with the settings from its modifiers.
public struct LaunchStep: Sendable {
  /// The work of a step, and the settings that its modifiers declare, such as its timeout.
  struct Declaration: Sendable {
    let work: StepWork
    /// The steps of a group; nil if the step isn't a group.
    var members: [LaunchStep]?
    var id: String?
    /// The step's references to other steps and groups.
    var references: [StepReference] = []
    /// Whether a modifier declares the step's order, so that the step doesn't wait for the previous step in the list.
    var declaresOrder = false
    var policy = FailurePolicy.undeclared
    var timeout: Duration?
    var stopTimeout: Duration?
    var stages: Set<ReleaseStage>?
    var rollback: (@Sendable () async throws -> Void)?
    var exitPolicy = ExitPolicy.shutDown
    /// The declared key that gives the step's service; nil if the service is registered for its type.
    var key: InjectionKeys?
    /// Whether the step begins only after the launch.
    var isDeferred = false
  }

  /// The step's work, and the settings that the step's modifiers have declared.
  private(set) var declared: Declaration

  init(_ initializer: any Initializable) { self.init(work: StepWork(initializer)) }

  init(work: StepWork, id: String? = nil) { declared = Declaration(work: work, id: id) }

  /// Returns a changed copy of the step.
  func with(_ change: (inout Declaration) -> Void) -> LaunchStep {
    var copy = self
    change(&copy.declared)
    return copy
  }

  /// Returns a copy of the step with the settings that the step inherits from its group, such as the timeout.
  func inheriting(from outer: Declaration) -> LaunchStep {
    with { inner in
      inner.policy = outer.policy.adding(inner.policy)
      inner.timeout = inner.timeout ?? outer.timeout
      inner.stopTimeout = inner.stopTimeout ?? outer.stopTimeout
      inner.isDeferred = inner.isDeferred || outer.isDeferred
      if let stages = outer.stages { inner.stages = inner.stages?.intersection(stages) ?? stages }
    }
  }
}

extension LaunchStep: LaunchStepConvertible, CustomStringConvertible {
  /// The step itself.
  public var launchStep: LaunchStep { self }

  /// The step's ID, or the name of its initializer's type.
  public var description: String { declared.id ?? "\(declared.work.type)" }
}

/// A step's reference to another step or group, which orders the two.
struct StepReference: Sendable {
  enum Relation: Sendable {
    /// The step waits for the other step.
    case after
    /// The step waits for the other step, and runs only if the other step completes.
    case requires
    /// The other step waits for this step.
    case before
  }

  let id: String
  let relation: Relation
}
