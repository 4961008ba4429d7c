internal import SpellRegistry

/// An order in which no step waits for a later one: of the steps that could be next, the one that is listed first
/// (Kahn's algorithm with a heap).
struct TopologicalOrder {
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
