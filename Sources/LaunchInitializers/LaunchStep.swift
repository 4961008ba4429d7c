/// A step of a ``LaunchSequence``: an initializer, a group of steps or closures, and what its modifiers declare.
public struct LaunchStep: Sendable {
  /// The declarations that a step's modifiers make.
  struct Declaration: Sendable {
    let work: StepWork
    /// The steps of a group; nil for a step.
    var members: [LaunchStep]?
    var id: String?
    /// The steps that this one refers to.
    var references: [StepReference] = []
    /// Whether a modifier declares the step's order, so that it doesn't wait for the step listed before it.
    var declaresOrder = false
    var policy = FailurePolicy.undeclared
    var timeout: Duration?
    var stopTimeout: Duration?
    var stages: Set<ReleaseStage>?
    var rollback: (@Sendable () async throws -> Void)?
    var exitPolicy = ExitPolicy.shutDown
    /// Whether the step begins only after the launch.
    var isDeferred = false
  }

  /// The declarations that the modifiers make.
  private(set) var declared: Declaration

  init(_ initializer: any Initializable) { self.init(work: StepWork(initializer)) }

  init(work: StepWork, id: String? = nil) { declared = Declaration(work: work, id: id) }

  /// Returns a changed copy of the step.
  func with(_ change: (inout Declaration) -> Void) -> LaunchStep {
    var copy = self
    change(&copy.declared)
    return copy
  }

  /// Returns the step with what the group around it declares for each of its steps.
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

  /// The step's id, or the name of its initializer's type.
  public var description: String { declared.id ?? "\(declared.work.type)" }
}

/// A declaration of a step about another one.
struct StepReference: Sendable {
  enum Relation: Sendable {
    /// The step waits for the other one.
    case after
    /// The step waits for the other one and runs only if that completes.
    case requires
    /// The other step waits for this one.
    case before
  }

  let id: String
  let relation: Relation
}
