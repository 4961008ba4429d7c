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
