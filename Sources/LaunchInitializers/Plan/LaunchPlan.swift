internal import Support

/// The steps of a sequence in an order in which they can run, and what each waits for.
///
/// Two rules make the order. A step that declares its order waits for what it declares, and nothing else. The others
/// form a line: each waits for the one of them that is listed before it. The steps are in the order in which they are
/// listed, but each one after what it waits for.
///
/// A group begins and ends with a point, and all but the deferred steps come before one, so that a plan is linear in steps
/// and references.
struct LaunchPlan: Sendable {
  /// A step, or a point between steps that no report mentions.
  final class Node: Sendable {
    let id: String
    /// The declarations of the step; nil for a point.
    let declared: LaunchStep.Declaration?
    /// The names of the groups around the step, outermost first.
    let groups: [String]
    let isDeferred: Bool
    /// The reason not to run the step at all; nil if it runs.
    let exclusion: String?

    /// Creates the node of a step, or a point of a group or of none.
    init(_ id: String, _ listed: LaunchStep.Declaration?, groups: [String], in stage: ReleaseStage) {
      (self.id, self.groups, declared) = (id, groups, listed?.members == nil ? listed : nil)
      isDeferred = listed?.isDeferred ?? false
      let names = declared?.stages.map { $0.map(\.rawValue).sorted().joined(separator: ", ") }
      let isExcluded = declared?.stages?.contains(stage) == false
      exclusion = isExcluded ? "only in \(names ?? ""), and this is \(stage)" : nil
    }

    /// The time limit of the step's shut-down.
    var stopTimeout: Duration { declared?.stopTimeout ?? declared?.timeout ?? .seconds(10) }
  }

  /// The nodes; none waits for a later one.
  let nodes: [Node]
  /// The nodes that each one waits for.
  let dependencies: StepGraph
  /// The nodes that wait for each one.
  let dependents: StepGraph
  /// The nodes that have to complete for each one to run.
  let requirements: StepGraph

  init(_ listed: [LaunchStep], stage: ReleaseStage) throws(LaunchPlanError) {
    let listing = try StepListing(listed, stage: stage)
    let count = listing.nodes.count
    let listedDependencies = StepGraph(listing.dependencies, count: count)
    let order = try listing.order(by: listedDependencies)
    var positions = Array(repeating: 0, count: count)
    for (position, index) in order.enumerated() { positions[index] = position }
    nodes = order.map { listing.nodes[$0] }
    dependencies = listedDependencies.renumbered(positions)
    dependents = dependencies.inverted()
    requirements = StepGraph(listing.requirements, count: count).renumbered(positions)
  }

  /// The ids of the steps.
  var ids: [String] { nodes.lazy.filter { $0.declared != nil }.map(\.id) }
}
