internal import SpellRegistry

/// An order in which no step waits for a later one: of the steps that could be next, the one that is listed first
/// (Kahn's algorithm with a heap).
struct TopologicalOrder {
  /// The listed steps in that order.
  private(set) var indices: [Int] = []

  /// - Throws: An error of code `.cycle` if there is no such order.
  init(
    _ dependencies: [[Int]], _ dependents: [[Int]], _ steps: [LaunchStep], _ ids: [String]
  ) throws(LaunchPlanError) {
    var open = dependencies.map(\.count)
    var ready = ReadyQueue()
    for index in steps.indices where open[index] == 0 { ready.insert(index) }
    indices.reserveCapacity(steps.count)
    while let index = ready.popFirst() {
      indices.append(index)
      for dependent in dependents[index] {
        open[dependent] -= 1
        if open[dependent] == 0 { ready.insert(dependent) }
      }
    }
    if indices.count < steps.count {
      throw Self.error(Self.cycle(in: dependencies, among: open.indices.filter { open[$0] > 0 }), steps, ids)
    }
  }

  /// Walks along the dependencies from the first step that is left until it meets itself.
  ///
  /// - Parameters:
  ///   - dependencies: The steps that each one waits for.
  ///   - rest: The steps that are left. Each waits for at least one other of them.
  /// - Returns: Steps of which each waits for the next, and the last for the first. The first is listed first.
  private static func cycle(in dependencies: [[Int]], among rest: [Int]) -> [Int] {
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

  private static func error(_ cycle: [Int], _ steps: [LaunchStep], _ ids: [String]) -> LaunchPlanError {
    let path = (cycle + cycle.prefix(1)).map { ids[$0] }
    let names = path.map(\.escaped)
    let place = cycle.first.flatMap { steps[$0].place?.description } ?? ""
    guard cycle.count > 1 else {
      return LaunchPlanError(
        .cycle, path: path, place: place, "\(path[0].quoted) waits for itself, so it can never begin.")
    }
    let shown = names.count > 12 ? names.prefix(6) + ["(\(names.count - 9) more)"] + names.suffix(3) : names[...]
    let places = cycle.prefix(6).compactMap { index in
      steps[index].place.map { "\(ids[index].escaped) is at \($0)" }
    }
    // Two steps of the line, of which one waits for the other though no modifier declares it.
    let inLine = cycle.indices.first { position in
      let next = cycle[(position + 1) % cycle.count]
      return !steps[cycle[position]].declaresOrder && !steps[next].declaresOrder && next < cycle[position]
    }
    let line = inLine.map { position in
      """
       \(names[position]) is after \(names[position + 1]) only because it is written after it; .after() without an id \
      frees it.
      """
    }
    return LaunchPlanError(
      .cycle, path: path, place: place,
      """
      Each of these steps waits for the next, so that none can ever begin: \(shown.joined(separator: " → ")). \
      Remove one .after, .requires or .before.\(line ?? "") [\(places.joined(separator: "; "))]
      """)
  }
}

extension [[Int]] {
  /// The arrows of a graph, each in the other direction.
  func inverted() -> [[Int]] {
    var inverted = Array(repeating: [Int](), count: count)
    for (index, others) in enumerated() { for other in others { inverted[other].append(index) } }
    return inverted
  }
}
