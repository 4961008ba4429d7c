internal import SpellRegistry

/// A step of a ``LaunchSequence``: an initializer, or a group of steps, and what its modifiers declare.
///
/// The modifiers of ``LaunchStepConvertible`` create it: `Database().id("db").after("log").timeout(.seconds(5))`. Copying
/// a step is cheap; each modifier copies its declaration.
public struct LaunchStep: Sendable {
  /// What the step is, and what its modifiers declare.
  struct Declaration: Sendable {
    let initializer: any Initializable
    /// The steps of a group; nil for a step.
    var members: [LaunchStep]?
    /// The source location of the step, if it is known.
    var location: SourcePlace?
    var id: (name: String, location: SourcePlace)?
    /// The steps that this one refers to.
    var references: [StepReference] = []
    /// Whether a modifier declares the step's order, so that it doesn't wait for the step listed before it.
    var declaresOrder = false
    var policy = FailurePolicy.undeclared
    var timeout: Duration?
    var stopTimeout: Duration?
    var stages: Set<ReleaseStage>?
    var condition: (@Sendable (any Configurable) -> Bool)?
    var rollback: (@Sendable () async -> Void)?
    var exitPolicy = ExitPolicy.shutDown
    /// Whether the step begins only after the launch.
    var isDeferred = false
    /// Whether the step is performed only when its service is first resolved.
    var isLazy = false
  }

  private final class Box: Sendable {
    let declared: Declaration
    init(_ declared: Declaration) { self.declared = declared }
  }
  private let box: Box

  private init(_ declared: Declaration) { box = Box(declared) }

  init(_ initializer: any Initializable, at location: SourcePlace? = nil) {
    self.init(Declaration(initializer: initializer, location: location))
  }

  /// What the step is, and what its modifiers declare.
  var declared: Declaration { box.declared }
}

extension LaunchStep: LaunchStepConvertible {
  /// The step itself.
  public var launchStep: LaunchStep { self }

  /// Returns a changed copy of the step; it is located at `location` unless its location is known.
  func with(_ location: SourcePlace, _ change: (inout Declaration) -> Void) -> LaunchStep {
    var declared = declared
    declared.location = declared.location ?? location
    change(&declared)
    return LaunchStep(declared)
  }

  /// Returns the step with what the group around it declares for each of its steps.
  func inheriting(from group: LaunchStep) -> LaunchStep {
    let outer = group.declared
    var inner = declared
    inner.policy = outer.policy.adding(inner.policy)
    inner.timeout = inner.timeout ?? outer.timeout
    inner.stopTimeout = inner.stopTimeout ?? outer.stopTimeout
    inner.isDeferred = inner.isDeferred || outer.isDeferred
    if let stages = outer.stages { inner.stages = inner.stages?.intersection(stages) ?? stages }
    if let outerCondition = outer.condition {
      let condition = inner.condition
      inner.condition = { outerCondition($0) && condition?($0) ?? true }
    }
    return LaunchStep(inner)
  }
}

extension LaunchStep: CustomStringConvertible {
  /// The step's id, or the name of its initializer's type.
  public var description: String {
    declared.id?.name ?? TypeName.of(type(of: declared.initializer))
  }
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
/// has its own, `.only(in:)` and `.when` in addition to the step's own, and `.deferred()`. Groups can be nested. A group
/// without steps has nothing to wait for.
public struct LaunchGroup: LaunchStepConvertible {
  /// The group as a step.
  public let launchStep: LaunchStep

  /// Creates a group of steps.
  ///
  /// - Parameters:
  ///   - name: The name, which no step and no other group of the sequence may have.
  ///   - fileID: The source file, for messages.
  ///   - line: The source line, for messages.
  ///   - steps: The steps.
  public init(
    _ name: String, fileID: StaticString = #fileID, line: UInt = #line, @LaunchBuilder _ steps: () -> [LaunchStep]
  ) {
    launchStep = LaunchStep(Nothing()).with(SourcePlace(fileID: fileID, line: line)) { $0.members = steps() }
      .id(name, fileID: fileID, line: line)
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
    case type(any Initializable.Type)
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
  let location: SourcePlace

  /// The target as a message shows it.
  var name: String {
    switch target {
    case .id(let id): id
    case .type(let type): TypeName.of(type)
    }
  }
}

// MARK: Listing

/// Builds the steps of a ``LaunchSequence`` or a ``LaunchGroup`` from a list with `if`, `switch` and `for`.
@resultBuilder
public enum LaunchBuilder {
  /// Lists an initializer as a step that declares nothing.
  ///
  /// `fileID` and `line` are the source location that messages show.
  public static func buildExpression(
    _ initializer: any Initializable, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [LaunchStep] {
    [LaunchStep(initializer, at: SourcePlace(fileID: fileID, line: line))]
  }

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
