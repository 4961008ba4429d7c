/// A directed graph, which has a list of target nodes for each node.
///
/// In a graph of dependencies, for example, each node's list contains the nodes that this node waits for.
///
/// All lists share one array, because separate arrays would cost more than everything else in a plan of many steps.
struct StepGraph: Sendable {
  typealias Edge = (from: Int, to: Int)

  private var starts: [Int]
  private var targets: [Int]

  /// Creates a graph with nodes from 0 to `count - 1`.
  ///
  /// The list of a node has the target of each edge that starts at the node, in the order of `edges`.
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

  /// For each node, the length of its list.
  var counts: [Int] { (0..<starts.count - 1).map { starts[$0 + 1] - starts[$0] } }

  /// Returns a graph with all edges reversed.
  func inverted() -> StepGraph { mapped { ($1, $0) } }

  /// Returns a graph with new node numbers; `positions` maps each old number to the new number.
  func renumbered(_ positions: [Int]) -> StepGraph { mapped { (positions[$0], positions[$1]) } }

  private func mapped(_ transform: (Int, Int) -> Edge) -> StepGraph {
    var edges: [Edge] = []
    edges.reserveCapacity(targets.count)
    for node in 0..<starts.count - 1 { for target in self[node] { edges.append(transform(node, target)) } }
    return StepGraph(edges, count: starts.count - 1)
  }
}
