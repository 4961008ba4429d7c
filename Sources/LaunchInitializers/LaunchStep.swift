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

/// Builds the steps of a ``LaunchSequence`` or a ``LaunchGroup`` from a list with `if`, `switch` and `for`.
@resultBuilder
public enum LaunchBuilder {
  /// Lists an initializer as a step that declares nothing.
  public static func buildExpression(_ initializer: any Initializable) -> [LaunchStep] { [LaunchStep(initializer)] }
  /// Lists a step.
  public static func buildExpression(_ step: LaunchStep) -> [LaunchStep] { [step] }
  /// Lists a group.
  public static func buildExpression(_ group: LaunchGroup) -> [LaunchStep] { [group.launchStep] }
  /// Lists steps that an array holds.
  public static func buildExpression(_ steps: [LaunchStep]) -> [LaunchStep] { steps }
  /// Lists steps one after the other.
  public static func buildBlock(_ parts: [LaunchStep]...) -> [LaunchStep] { parts.flatMap(\.self) }
  /// Lists the steps of each pass of a `for`.
  public static func buildArray(_ parts: [[LaunchStep]]) -> [LaunchStep] { parts.flatMap(\.self) }
  /// Lists the steps of an `if` without `else`.
  public static func buildOptional(_ part: [LaunchStep]?) -> [LaunchStep] { part ?? [] }
  /// Lists the steps of an `if`.
  public static func buildEither(first part: [LaunchStep]) -> [LaunchStep] { part }
  /// Lists the steps of an `else`.
  public static func buildEither(second part: [LaunchStep]) -> [LaunchStep] { part }
  /// Lists the steps of an `if #available`.
  public static func buildLimitedAvailability(_ part: [LaunchStep]) -> [LaunchStep] { part }
}
