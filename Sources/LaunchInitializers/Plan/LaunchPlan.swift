internal import SpellRegistry

/// The steps of a sequence in an order in which they can run, and what each waits for.
///
/// Two rules make the order. A step that declares its order waits for what it declares, and nothing else. The others
/// form a line: each waits for the one of them that is listed before it. Of the steps that could be next, the one that
/// is listed first is. A group takes part as one step does.
///
/// Takes time linear in steps and dependencies, apart from a logarithm, and no recursion but into groups.
struct LaunchPlan: Sendable {
  /// A class, because a run hands its steps around.
  final class Step: Sendable {
    let id: String
    /// The step's index in the plan, forwards.
    let index: Int
    /// The step as it is listed.
    let listed: LaunchStep
    let isService: Bool
    let timeout: Duration?
    /// Why the step isn't run at all; nil if it is.
    let exclusion: String?
    /// The names of the groups around the step, outermost first.
    let groups: [String]

    /// Whether the step only fails itself, whatever its policy.
    private let failsAlone: Bool

    var initializer: any Initializable { listed.declared.initializer }
    var policy: FailurePolicy { failsAlone ? .skip : listed.declared.policy }

    init(
      _ listed: LaunchStep, id: String, index: Int, isService: Bool, groups: [String], exclusion: String?
    ) {
      self.id = id
      self.index = index
      self.listed = listed
      self.isService = isService
      self.groups = groups
      self.exclusion = exclusion
      timeout = listed.declared.timeout
      failsAlone = false
    }

    /// Creates the step of the plan backwards, which shuts a step down.
    init(shuttingDown step: Step) {
      id = step.id
      index = step.index
      listed = step.listed
      isService = step.isService
      groups = step.groups
      exclusion = nil
      timeout = step.listed.declared.stopTimeout ?? step.timeout ?? .seconds(10)
      failsAlone = true
    }
  }

  private(set) var steps: [Step]
  /// The steps that each one waits for.
  private(set) var dependencies: StepGraph
  /// The steps that wait for each one.
  private(set) var dependents: StepGraph
  /// The steps that each one requires: it waits for them, or for others that do.
  private(set) var requirements: StepGraph
  /// For each step whether it is deferred; empty if none is.
  private(set) var isDeferred: [Bool]

  init(_ listed: [LaunchStep], stage: ReleaseStage, location: SourcePlace) throws(LaunchPlanError) {
    let listing = StepListing(listed)
    let count = listing.steps.count
    guard count > 0 else {
      throw LaunchPlanError(
        .empty, location: location, "A launch sequence has no steps. List at least one, or don't create the sequence.")
    }
    var names = try StepNames(listing)
    let edges = try StepEdges(listing, &names)
    let (dependencies, requirements) = (
      StepGraph(edges.dependencies, count: count), StepGraph(edges.requirements, count: count)
    )
    let dependents = dependencies.inverted()
    let order = try TopologicalOrder(dependencies, dependents, listing, names.ids)
    self.dependencies = dependencies.renumbered(order.positions)
    self.dependents = dependents.renumbered(order.positions)
    self.requirements = requirements.renumbered(order.positions)
    // The cast is slow, and many steps in a row may be of one type.
    var latest: (type: ObjectIdentifier, isService: Bool)?
    steps = order.indices.enumerated().map { position, index in
      let step = listing.steps[index]
      let type = ObjectIdentifier(type(of: step.declared.initializer))
      let isService =
        latest.flatMap { $0.type == type ? $0.isService : nil } ?? (step.declared.initializer is any RunningInitializer)
      latest = (type, isService)
      return Step(
        step, id: names.ids[index], index: position, isService: isService, groups: listing.groups(of: index),
        exclusion: Self.exclusion(for: step.declared.stages, in: stage))
    }
    isDeferred = edges.hasDeferred ? order.indices.map { listing.steps[$0].declared.isDeferred } : []
  }

  private static func exclusion(for stages: Set<ReleaseStage>?, in stage: ReleaseStage) -> String? {
    guard let stages, !stages.contains(stage) else { return nil }
    let names = stages.map(\.rawValue).sorted().joined(separator: ", ")
    return "only in \(names.isEmpty ? "no stage" : names), and this is \(stage)"
  }
}

// MARK: Other plans

extension LaunchPlan {
  /// The plan backwards, for the shut-down: each step waits for the steps that waited for it.
  func reversed() -> LaunchPlan {
    let positions = Array(steps.indices.reversed())
    var plan = self
    plan.steps = steps.reversed().map(Step.init(shuttingDown:))
    plan.dependencies = dependents.renumbered(positions)
    plan.dependents = dependencies.renumbered(positions)
    plan.requirements = StepGraph([], count: steps.count)
    return plan
  }

  /// A plan of one step, which waits for nothing.
  func only(_ step: Step) -> LaunchPlan {
    let nothing = StepGraph([], count: 1)
    var plan = self
    (plan.steps, plan.dependencies, plan.dependents, plan.requirements) = ([step], nothing, nothing, nothing)
    plan.isDeferred = []
    return plan
  }
}
