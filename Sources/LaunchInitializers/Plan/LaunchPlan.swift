internal import SpellRegistry

/// The steps of a sequence in an order that fits, and what each waits for; checked, so that it can run.
///
/// Two rules make the order. A step that declares its order waits for what it declares, and nothing else. The others
/// form a line: each waits for the one of them that is listed before it. Of the steps that could be next, the one that
/// is listed first is.
///
/// Takes time linear in steps and dependencies, but for a logarithm, and no recursion.
struct LaunchPlan: Sendable {
  struct Step: Sendable {
    let id: String
    /// The step's index in the plan, forwards.
    let index: Int
    /// The step as it is listed.
    let listed: LaunchStep
    var policy: FailurePolicy
    var timeout: Duration?
    /// Why the step isn't run at all; nil if it is.
    let exclusion: String?

    var initializer: any Initializable { listed.initializer }
  }

  private(set) var steps: [Step]
  /// The steps that each one waits for, by their indices in `steps`.
  private(set) var dependencies: [[Int]]
  /// The steps that wait for each one.
  private(set) var dependents: [[Int]]
  /// The steps that each one requires, which are among its dependencies; empty if no step requires another.
  private(set) var requirements: [[Int]]

  init(_ listed: [LaunchStep], stage: ReleaseStage, place: SourcePlace) throws(LaunchPlanError) {
    guard !listed.isEmpty else {
      throw LaunchPlanError(
        .empty, place: place.description,
        "A launch sequence has no steps. List at least one, or don't create the sequence.")
    }
    var references = try StepReferences(listed)
    let edges = try Edges(listed, &references)
    let ids = references.ids
    let order = try TopologicalOrder(edges.dependencies, listed, ids).indices
    var positions = Array(repeating: 0, count: listed.count)
    for (position, index) in order.enumerated() { positions[index] = position }

    dependencies = order.map { index in edges.dependencies[index].map { positions[$0] } }
    dependents = dependencies.inverted()
    requirements =
      edges.requirements.isEmpty ? [] : order.map { index in (edges.requirements[index] ?? []).map { positions[$0] } }
    steps = order.enumerated().map { position, index in
      let step = listed[index]
      return Step(
        id: ids[index], index: position, listed: step, policy: step.policy, timeout: step.timeout,
        exclusion: Self.exclusion(of: step, in: stage))
    }
  }

  private static func exclusion(of step: LaunchStep, in stage: ReleaseStage) -> String? {
    guard let stages = step.stages, !stages.contains(stage) else { return nil }
    let names = stages.map(\.rawValue).sorted().joined(separator: ", ")
    return "only in \(names.isEmpty ? "no stage" : names), and this is \(stage)"
  }

  /// For each step whether it is deferred; empty if none is.
  var deferred: [Bool] { steps.contains(where: \.listed.isDeferred) ? steps.map(\.listed.isDeferred) : [] }

  /// What the listed steps wait for.
  private struct Edges {
    var dependencies: [[Int]]
    /// The required ones of them.
    var requirements: [Int: [Int]] = [:]

    init(_ steps: [LaunchStep], _ references: inout StepReferences) throws(LaunchPlanError) {
      dependencies = Array(repeating: [], count: steps.count)
      var formers: [Bool: Int] = [:]
      for (index, step) in steps.enumerated() {
        for reference in step.references {
          guard let other = references.step(for: reference, of: index) else { continue }
          switch reference.relation {
          case .after, .afterIfPresent: dependencies[index].append(other)
          case .requires:
            dependencies[index].append(other)
            requirements[index, default: []].append(other)
          case .before: dependencies[other].append(index)
          }
        }
        if step.declaresOrder { continue }
        // Deferred steps form a line of their own.
        if let former = formers.updateValue(index, forKey: step.isDeferred) { dependencies[index].append(former) }
      }
      try references.checkResolved()
      try checkDeferred(steps, references.ids)
      for index in dependencies.indices where dependencies[index].count > 1 {
        var seen: Set<Int> = []
        dependencies[index].removeAll { !seen.insert($0).inserted }
      }
    }

    /// A step of the launch can't wait for one that begins after the launch.
    private func checkDeferred(_ steps: [LaunchStep], _ ids: [String]) throws(LaunchPlanError) {
      for (index, step) in steps.enumerated() where !step.isDeferred {
        guard let other = dependencies[index].first(where: { steps[$0].isDeferred }) else { continue }
        throw LaunchPlanError(
          .deferredDependency, path: [ids[index], ids[other]], place: step.place?.description ?? "",
          """
          \(ids[index].quoted) waits for \(ids[other].quoted), which is deferred until the launch is over. Add \
          .deferred() to \(ids[index].quoted), or remove it from \(ids[other].quoted).
          """)
      }
    }
  }
}

// MARK: Shutting down

extension LaunchPlan {
  private static let defaultStopTimeout = Duration.seconds(10)

  /// The plan backwards: each step waits for those that waited for it, and fails alone.
  func reversed() -> LaunchPlan {
    let last = steps.count - 1
    var plan = self
    plan.steps = steps.reversed().map { step in
      var step = step
      step.policy = .skip
      step.timeout = step.listed.stopTimeout ?? step.timeout ?? Self.defaultStopTimeout
      return step
    }
    plan.dependencies = dependents.reversed().map { $0.map { last - $0 } }
    plan.dependents = dependencies.reversed().map { $0.map { last - $0 } }
    plan.requirements = []
    return plan
  }
}
