/// Lists of nodes, one for each node, such as those that it waits for; all in one array, since a list of its own for
/// each would cost a plan of many steps more than all else.
struct StepGraph: Sendable {
  typealias Edge = (from: Int, to: Int)

  private var starts: [Int]
  private var targets: [Int]

  /// Creates the lists in which each edge's target is listed for its source, in the order of the edges.
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
  }

  subscript(node: Int) -> ArraySlice<Int> { targets[starts[node]..<starts[node + 1]] }

  /// The length of each list.
  var counts: [Int] { (0..<starts.count - 1).map { starts[$0 + 1] - starts[$0] } }

  /// The lists in the other direction.
  func inverted() -> StepGraph { mapped { ($1, $0) } }

  /// The lists after each node has moved to a new position.
  func renumbered(_ positions: [Int]) -> StepGraph { mapped { (positions[$0], positions[$1]) } }

  private func mapped(_ transform: (Int, Int) -> Edge) -> StepGraph {
    var edges: [Edge] = []
    edges.reserveCapacity(targets.count)
    for node in 0..<starts.count - 1 { for target in self[node] { edges.append(transform(node, target)) } }
    return StepGraph(edges, count: starts.count - 1)
  }
}
