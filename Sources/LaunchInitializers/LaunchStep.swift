/// A step of a ``LaunchSequence``: an initializer, a group of steps or closures, and what its modifiers declare.
///
/// The modifiers of ``LaunchStepConvertible`` create it: `Database().id("db").after("log").timeout(.seconds(5))`. Copying
/// a step is cheap; each modifier copies its declaration.
public struct LaunchStep: Sendable {
  /// What the modifiers of a step declare.
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
    var condition: (@Sendable (any Configurable) -> Bool)?
    var rollback: (@Sendable () async throws -> Void)?
    var exitPolicy = ExitPolicy.shutDown
    /// Whether the step begins only after the launch.
    var isDeferred = false
  }

  private final class Box: Sendable {
    let declared: Declaration
    init(_ declared: Declaration) { self.declared = declared }
  }
  private let box: Box

  private init(_ declared: Declaration) { box = Box(declared) }

  init(_ initializer: any Initializable) { self.init(work: StepWork(initializer)) }

  init(work: StepWork, id: String? = nil) { self.init(Declaration(work: work, id: id)) }

  /// What the modifiers of the step declare.
  var declared: Declaration { box.declared }

  /// Returns a changed copy of the step.
  func with(_ change: (inout Declaration) -> Void) -> LaunchStep {
    var declared = declared
    change(&declared)
    return LaunchStep(declared)
  }

  /// Returns the step with what the group around it declares for each of its steps.
  func inheriting(from outer: Declaration) -> LaunchStep {
    with { inner in
      inner.policy = outer.policy.adding(inner.policy)
      inner.timeout = inner.timeout ?? outer.timeout
      inner.stopTimeout = inner.stopTimeout ?? outer.stopTimeout
      inner.isDeferred = inner.isDeferred || outer.isDeferred
      if let stages = outer.stages { inner.stages = inner.stages?.intersection(stages) ?? stages }
      if let outerCondition = outer.condition {
        let condition = inner.condition
        inner.condition = { outerCondition($0) && condition?($0) ?? true }
      }
    }
  }
}

extension LaunchStep: LaunchStepConvertible, CustomStringConvertible {
  /// The step itself.
  public var launchStep: LaunchStep { self }

  /// The step's id, or the name of its initializer's type.
  public var description: String { declared.id ?? "\(declared.work.type)" }
}

// MARK: Groups

/// Steps under one name, which other steps can wait for and require as a whole.
///
/// ```swift
/// LaunchGroup("storage") {
///   DatabaseInitializer()
///   MigrationInitializer()
///   CacheInitializer().after("DatabaseInitializer")
/// }.after("logging").onFailure(.retry(2, after: .seconds(1)))
///
/// UserInterface().requires("storage")
/// ```
///
/// A group is ordered as one step: it begins when the steps that it waits for have ended, and a step that waits for it
/// begins when all its steps have ended. A step that requires a group runs only if all steps of the group complete.
/// Within the group, steps are ordered as in a sequence. Ids are unique in the whole sequence, and a group's name is
/// one of them.
///
/// The other modifiers of a group apply to each of its steps: `.timeout`, `.stopTimeout` and `.onFailure` unless the step
/// has its own, `.only(in:)` and `.when` in addition to the step's own, and `.deferred()`. Groups can be nested. Nothing
/// waits for the deferred steps of a group that isn't deferred itself.
public struct LaunchGroup: LaunchStepConvertible, Sendable {
  /// The group as a step.
  public let launchStep: LaunchStep

  /// Creates a group of steps.
  ///
  /// - Parameters:
  ///   - name: The name, which no step and no other group of the sequence may have.
  ///   - steps: The steps.
  public init(_ name: String, @LaunchBuilder _ steps: () -> [LaunchStep]) {
    launchStep = LaunchStep(Nothing()).with { $0.members = steps() }.id(name)
  }

  /// In place of an initializer, which a group doesn't have.
  private struct Nothing: Initializable {
    func perform(with configuration: any Configurable) {}
  }
}

// MARK: References

/// What a step declares about another one.
struct StepReference: Sendable {
  enum Target: Sendable {
    case id(String)
    case type(ObjectIdentifier, name: String)
  }
  enum Relation: Sendable {
    /// The step waits for the other one.
    case after
    /// The step waits for the other one if the sequence has it.
    case afterIfPresent
    /// The step waits for the other one and runs only if that completes.
    case requires
    /// The other step waits for this one.
    case before
  }

  let target: Target
  let relation: Relation

  /// The target as a message shows it.
  var name: String {
    switch target {
    case .id(let id): id
    case .type(_, let name): name
    }
  }
}

// MARK: Listing

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
