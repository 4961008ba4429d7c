internal import SpellRegistry

/// The steps of a sequence in an order that fits, and who waits for whom; checked, so that it can run.
///
/// Two rules make the order. A step that says `.after` or `.before` waits for what is declared, and nothing else. The
/// others form a line: each waits for the one of them written before it. Among steps that could be next, the one written
/// first is.
///
/// Made in time linear in steps and dependencies, but for a logarithm; no recursion.
struct LaunchPlan: Sendable {
  struct Step: Sendable {
    let id: String
    let initializer: any Initializable
    let policy: FailurePolicy
    let timeout: Duration?
    /// Why the step is not run at all; nil where it is.
    let exclusion: String?
  }

  let steps: [Step]
  /// The steps that each one waits for, by their places in `steps`.
  let dependencies: [[Int]]
  /// The steps that wait for each one.
  let dependents: [[Int]]

  init(_ written: [LaunchStep], stage: ReleaseStage, place: SourcePlace) throws(LaunchPlanError) {
    guard !written.isEmpty else {
      throw LaunchPlanError(
        .empty, place: place.description,
        "A launch sequence has no steps. List at least one, or don't make the sequence.")
    }
    let names = try StepNames(written)
    let order = try StepOrder(written, names)
    var places = Array(repeating: 0, count: written.count)
    for (place, index) in order.indices.enumerated() { places[index] = place }

    let dependencies = order.indices.map { index in order.dependencies[index].map { places[$0] } }
    var dependents = Array(repeating: [Int](), count: written.count)
    for (place, needed) in dependencies.enumerated() { for other in needed { dependents[other].append(place) } }
    self.dependencies = dependencies
    self.dependents = dependents
    steps = order.indices.map { index in
      let step = written[index]
      let isOut = step.stages.map { !$0.contains(stage) } ?? false
      let stages = (step.stages ?? []).map(\.rawValue).sorted().joined(separator: ", ")
      return Step(
        id: names.ids[index], initializer: step.initializer, policy: step.policy, timeout: step.timeout,
        exclusion: isOut ? "only in \(stages.isEmpty ? "no stage" : stages), and this is \(stage)" : nil)
    }
  }
}
