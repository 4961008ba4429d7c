internal import SpellRegistry

/// The steps of a sequence in an order that fits, and what each waits for; checked, so that it can run.
///
/// Two rules make the order. A step that declares its order waits for what it declares, and nothing else. The others
/// form a line: each waits for the one of them that is listed before it. Of the steps that could be next, the one that
/// is listed first is.
///
/// Takes time linear in steps and dependencies, but for a logarithm, and no recursion.
struct LaunchPlan: Sendable {
  /// A class, since a run hands its steps around, and a listed step has many parts to copy.
  final class Step: Sendable {
    let id: String
    /// The step's index in the plan, forwards.
    let index: Int
    /// The step as it is listed.
    let listed: LaunchStep
    let policy: FailurePolicy
    let timeout: Duration?
    /// Why the step isn't run at all; nil if it is.
    let exclusion: String?

    var initializer: any Initializable { listed.initializer }

    init(_ listed: LaunchStep, id: String, index: Int, exclusion: String?) {
      self.id = id
      self.index = index
      self.listed = listed
      self.exclusion = exclusion
      policy = listed.policy
      timeout = listed.timeout
    }

    /// The step in the plan backwards, where it fails alone.
    init(shuttingDown step: Step, within timeout: Duration) {
      id = step.id
      index = step.index
      listed = step.listed
      exclusion = nil
      policy = .skip
      self.timeout = timeout
    }
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
    let waiting = edges.dependencies.inverted()
    let order = try TopologicalOrder(edges.dependencies, waiting, listed, ids).indices
    var positions = Array(repeating: 0, count: listed.count)
    for (position, index) in order.enumerated() { positions[index] = position }

    dependencies = order.map { index in edges.dependencies[index].map { positions[$0] } }
    dependents = order.map { index in waiting[index].map { positions[$0] } }
    requirements =
      edges.requirements.isEmpty ? [] : order.map { index in (edges.requirements[index] ?? []).map { positions[$0] } }
    steps = order.enumerated().map { position, index in
      Step(
        listed[index], id: ids[index], index: position, exclusion: Self.exclusion(of: listed[index], in: stage))
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
      var (former, formerDeferred): (Int?, Int?) = (nil, nil)
      for index in steps.indices {
        for reference in steps[index].references {
          guard let other = references.step(for: reference, of: index) else { continue }
          switch reference.relation {
          case .after, .afterIfPresent: dependencies[index].append(other)
          case .requires:
            dependencies[index].append(other)
            requirements[index, default: []].append(other)
          case .before: dependencies[other].append(index)
          }
        }
        if steps[index].declaresOrder { continue }
        // Deferred steps form a line of their own.
        if let last = steps[index].isDeferred ? formerDeferred : former { dependencies[index].append(last) }
        if steps[index].isDeferred { formerDeferred = index } else { former = index }
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
      guard steps.indices.contains(where: { steps[$0].isDeferred }) else { return }
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
      Step(shuttingDown: step, within: step.listed.stopTimeout ?? step.timeout ?? Self.defaultStopTimeout)
    }
    plan.dependencies = dependents.reversed().map { $0.map { last - $0 } }
    plan.dependents = dependencies.reversed().map { $0.map { last - $0 } }
    plan.requirements = []
    return plan
  }
}
