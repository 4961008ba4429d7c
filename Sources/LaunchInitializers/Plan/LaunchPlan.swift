internal import Support

/// The steps of a sequence in an order in which they can run, and the dependencies between them.
///
/// A step that declares its order, for example with `.requires("db")`, waits only for the steps that it declares. Each
/// other step waits for the nearest earlier entry of its list that declares no order either. The plan keeps the order
/// of the list, except that each step comes after the steps that it waits for.
///
/// A group begins and ends with a point, which is a node without code. Another point separates the deferred steps from
/// the other steps. The points keep the size of a plan linear in the numbers of steps and references.
struct LaunchPlan: Sendable {
  /// A node of the plan: a step, or a point, which only orders other nodes and isn't in any report.
  final class Node: Sendable {
    let id: String
    /// The step as it is declared in the program; nil if the node isn't a step.
    let declared: LaunchStep.Declaration?
    /// The names of the groups around the step, outermost first.
    let groups: [String]
    let isDeferred: Bool
    /// The reason not to run the step in the current release stage; nil if the step may run.
    let exclusion: String?

    /// Creates a point if `listed` is a group or nil; otherwise, creates the node of a step.
    init(
      _ id: String, _ listed: LaunchStep.Declaration?, groups: [String], in stage: ReleaseStage,
      isDeferral: Bool = false
    ) {
      (self.id, self.groups, declared) = (id, groups, listed?.members == nil ? listed : nil)
      isDeferred = isDeferral || listed?.isDeferred ?? false
      let names = declared?.stages.map { $0.map(\.rawValue).sorted().joined(separator: ", ") }
      let isExcluded = declared?.stages?.contains(stage) == false
      exclusion = isExcluded ? "only in \(names ?? ""), and this is \(stage)" : nil
    }

    /// The time limit for undoing an abandoned attempt.
    ///
    /// The step's timeout isn't used, because the attempt has usually exceeded that timeout.
    var undoTimeout: Duration { declared?.stopTimeout ?? .seconds(10) }

    /// The time limit of the step's shutdown.
    var stopTimeout: Duration { declared?.stopTimeout ?? declared?.timeout ?? .seconds(10) }
  }

  /// The nodes, in an order in which each node comes after the nodes that it waits for.
  let nodes: [Node]
  /// The index of the node that the deferred steps wait for, and that waits for all other steps; nil if no step is
  /// deferred.
  let deferral: Int?
  /// For each node, the nodes that it waits for.
  let dependencies: StepGraph
  /// For each node, the nodes that wait for it.
  let dependents: StepGraph
  /// For each node, its necessary dependencies; the node is skipped unless all of them complete.
  let requirements: StepGraph

  init(_ listed: [LaunchStep], stage: ReleaseStage) throws(LaunchPlanError) {
    let listing = try StepListing(listed, stage: stage)
    let count = listing.nodes.count
    let listedDependencies = StepGraph(listing.dependencies, count: count)
    let order = try listing.order(by: listedDependencies)
    var positions = Array(repeating: 0, count: count)
    for (position, index) in order.enumerated() { positions[index] = position }
    nodes = order.map { listing.nodes[$0] }
    deferral = listing.deferral.map { positions[$0] }
    dependencies = listedDependencies.renumbered(positions)
    dependents = dependencies.inverted()
    requirements = StepGraph(listing.requirements, count: count).renumbered(positions)
  }

  /// Returns what the program has declared for the step with the given index; traps if the node isn't a step.
  func declared(_ step: Int) -> LaunchStep.Declaration {
    guard let declared = nodes[step].declared else { fatalError("A point was begun as a step.") }
    return declared
  }

  /// The IDs of the steps, in the order of the plan.
  var ids: [String] { nodes.lazy.filter { $0.declared != nil }.map(\.id) }
}
