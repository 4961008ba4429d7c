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

// MARK: Order

/// An order in which no step waits for a later one: of the steps that could be next, the one that is listed first
/// (Kahn's algorithm with a heap).
private struct TopologicalOrder {
  /// The listed steps in that order.
  private(set) var indices: [Int] = []
  /// For each listed step its position in the order.
  private(set) var positions: [Int]

  /// - Throws: An error of code `.cycle` if there is no such order.
  init(
    _ dependencies: StepGraph, _ dependents: StepGraph, _ listing: StepListing, _ ids: [String]
  ) throws(LaunchPlanError) {
    var open = dependencies.counts
    positions = open
    var ready = ReadyQueue()
    for index in open.indices where open[index] == 0 { ready.insert(index) }
    indices.reserveCapacity(open.count)
    while let index = ready.popFirst() {
      positions[index] = indices.count
      indices.append(index)
      for dependent in dependents[index] {
        open[dependent] -= 1
        if open[dependent] == 0 { ready.insert(dependent) }
      }
    }
    if indices.count < open.count {
      throw Self.error(Self.cycle(in: dependencies, among: open.indices.filter { open[$0] > 0 }), listing, ids)
    }
  }

  /// Walks along the dependencies from the first step that is left until it reaches a step again.
  ///
  /// - Parameters:
  ///   - dependencies: The steps that each one waits for.
  ///   - rest: The steps that are left. Each waits for at least one other of them.
  /// - Returns: Steps of which each waits for the next, and the last for the first. The first is listed first.
  private static func cycle(in dependencies: StepGraph, among rest: [Int]) -> [Int] {
    var isLeft = Array(repeating: false, count: dependencies.count)
    for index in rest { isLeft[index] = true }
    var positions: [Int: Int] = [:]
    var path: [Int] = []
    var next = rest.first
    while let index = next, positions[index] == nil {
      positions[index] = path.count
      path.append(index)
      next = dependencies[index].first { isLeft[$0] }
    }
    let cycle = Array(path[(next.flatMap { positions[$0] } ?? 0)...])
    let first = cycle.indices.min { cycle[$0] < cycle[$1] } ?? 0
    return Array(cycle[first...] + cycle[..<first])
  }

  private static func error(_ cycle: [Int], _ listing: StepListing, _ ids: [String]) -> LaunchPlanError {
    func declared(_ index: Int) -> LaunchStep.Declaration { listing.steps[index].declared }
    let path = (cycle + cycle.prefix(1)).map { ids[$0] }
    let names = path.map(\.escaped)
    let location = cycle.first.flatMap { declared($0).location }
    guard cycle.count > 1 else {
      return LaunchPlanError(
        .cycle, path: path, location: location, "\(path[0].quoted) waits for itself, so it can never begin.")
    }
    let shown = names.count > 12 ? names.prefix(6) + ["(\(names.count - 9) more)"] + names.suffix(3) : names[...]
    let locations = cycle.prefix(6).compactMap { index in
      let groups = listing.groups(of: index)
      let group = groups.isEmpty ? "" : " in \(groups.joined(separator: "/").escaped)"
      return declared(index).location.map { "\(ids[index].escaped)\(group) is at \($0)" }
    }
    // Two steps of a line, of which one waits for the other only because of the line.
    let inLine = cycle.indices.first { position in
      let (step, next) = (cycle[position], cycle[(position + 1) % cycle.count])
      return !declared(step).declaresOrder && !declared(next).declaresOrder && next < step
    }
    let line = inLine.map { position in
      """
       \(names[position]) waits for \(names[position + 1]) only because it is listed after it; .after() without an id \
      removes that.
      """
    }
    return LaunchPlanError(
      .cycle, path: path, location: location,
      """
      Each of these steps waits for the next, so none of them can ever begin: \(shown.joined(separator: " → ")). \
      Remove one .after, .requires or .before.\(line ?? "") [\(locations.joined(separator: "; "))]
      """)
  }
}

// MARK: Graphs

/// Lists of steps, one for each step, such as the steps that it waits for; all in one array, since a list of its own for
/// each would cost a plan of many steps more than all else.
struct StepGraph: Sendable {
  typealias Edge = (from: Int, to: Int)

  private var starts: [Int]
  private var targets: [Int]

  /// Creates the lists in which each edge's target is listed for its source, once, in the order of the edges.
  init(_ edges: [Edge], count: Int) {
    starts = Array(repeating: 0, count: count + 1)
    targets = Array(repeating: 0, count: edges.count)
    for edge in edges { starts[edge.from + 1] += 1 }
    for index in 0..<count { starts[index + 1] += starts[index] }
    var next = starts
    for edge in edges {
      targets[next[edge.from]] = edge.to
      next[edge.from] += 1
    }
    removeDuplicates()
  }

  private mutating func removeDuplicates() {
    // For each target the last list that it was seen in.
    var seen = Array(repeating: -1, count: starts.count - 1)
    var (kept, start) = (0, 0)
    for index in seen.indices {
      let end = starts[index + 1]
      for position in start..<end where seen[targets[position]] != index {
        seen[targets[position]] = index
        targets[kept] = targets[position]
        kept += 1
      }
      (starts[index + 1], start) = (kept, end)
    }
    targets.removeLast(targets.count - kept)
  }

  /// The number of steps.
  var count: Int { starts.count - 1 }
  var isEmpty: Bool { targets.isEmpty }

  subscript(step: Int) -> ArraySlice<Int> { targets[starts[step]..<starts[step + 1]] }

  /// The length of each list.
  var counts: [Int] { (0..<count).map { starts[$0 + 1] - starts[$0] } }

  /// The lists in the other direction.
  func inverted() -> StepGraph { StepGraph(edges { ($1, $0) }, count: count) }

  /// The lists after each step has moved to a new position.
  func renumbered(_ positions: [Int]) -> StepGraph {
    if isEmpty || positions.indices.allSatisfy({ positions[$0] == $0 }) { return self }
    return StepGraph(edges { (positions[$0], positions[$1]) }, count: count)
  }

  private func edges(_ transform: (Int, Int) -> Edge) -> [Edge] {
    var edges: [Edge] = []
    edges.reserveCapacity(targets.count)
    for step in 0..<count { for target in self[step] { edges.append(transform(step, target)) } }
    return edges
  }
}

/// The steps that are ready to begin, the first in the plan on top: a binary heap.
struct ReadyQueue: Sendable {
  private var steps: [Int] = []

  var isEmpty: Bool { steps.isEmpty }

  mutating func removeAll() { steps.removeAll() }

  mutating func insert(_ step: Int) {
    steps.append(step)
    var child = steps.count - 1
    while child > 0, steps[child] < steps[(child - 1) / 2] {
      steps.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func popFirst() -> Int? {
    guard let first = steps.first, let last = steps.popLast() else { return nil }
    guard !steps.isEmpty else { return first }
    steps[0] = last
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < steps.count else { break }
      let child = left + 1 < steps.count && steps[left + 1] < steps[left] ? left + 1 : left
      guard steps[child] < steps[parent] else { break }
      steps.swapAt(child, parent)
      parent = child
    }
    return first
  }
}
