internal import SpellRegistry

/// A step of a ``LaunchSequence``: an initializer and what its modifiers declare.
///
/// The modifiers of ``LaunchStepConvertible`` create it: `Database().id("db").after("log").timeout(.seconds(5))`.
public struct LaunchStep: Sendable {
  let initializer: any Initializable
  /// Whether the initializer is a ``RunningInitializer``.
  let isService: Bool
  /// The source location of the step, as far as it is known.
  var place: SourcePlace?
  var id: (name: String, place: SourcePlace)?
  /// The steps that this one refers to.
  var references: [StepReference] = []
  /// Whether a modifier declares the step's order, which takes it out of the line.
  var declaresOrder = false
  var policy = FailurePolicy.abort
  var timeout: Duration?
  var stopTimeout: Duration?
  var stages: Set<ReleaseStage>?
  var condition: (@Sendable (any Configurable) -> Bool)?
  var rollback: (@Sendable () async -> Void)?
  var exitPolicy = ExitPolicy.shutDown
  /// Whether the step begins only when the launch is over.
  var isDeferred = false

  init(_ initializer: any Initializable, at place: SourcePlace? = nil) {
    self.initializer = initializer
    self.place = place
    isService = initializer is any RunningInitializer
  }
}

extension LaunchStep: LaunchStepConvertible {
  /// The step itself.
  public var launchStep: LaunchStep { self }

  /// Changes a copy of the step, which is located at `place` unless its location is known.
  func with(_ place: SourcePlace, _ change: (inout LaunchStep) -> Void) -> LaunchStep {
    var step = self
    step.place = step.place ?? place
    change(&step)
    return step
  }
}

extension LaunchStep: CustomStringConvertible {
  /// The step's id, or the name of its initializer's type.
  public var description: String { id?.name ?? TypeName.of(type(of: initializer)) }
}

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
  let place: SourcePlace

  /// The target as a message shows it.
  var name: String {
    switch target {
    case .id(let id): id
    case .type(let type): TypeName.of(type)
    }
  }
}
