/// One pass through the nodes of a plan, forward or backward: their order, and the room for steps that are at work.
struct Pass: Sendable {
  private enum State {
    case idle, underWay
    /// No further node begins, but nodes that have begun may still end.
    case stopped
    case over
  }

  private var state = State.idle
  private(set) var began = Duration.zero
  /// The number of steps that are being set up or shut down, at most the maximum number of concurrent steps.
  private(set) var atWork = 0
  /// The number of nodes that aren't deferred and haven't ended, and the number of deferred nodes that haven't ended.
  private(set) var (left, deferredLeft) = (0, 0)
  /// For each node, the number of nodes that it still waits for.
  private var open: [Int] = []
  /// The nodes that may begin, in order, and the index of the first node in this queue that hasn't begun.
  private var (queue, next): ([Int], Int) = ([], 0)
  private var isReversed = false

  var hasBegun: Bool { state != .idle }
  var isUnderWay: Bool { state == .underWay || state == .stopped }
  var isStopped: Bool { state == .stopped }
  /// Whether no step is at work, and no further step will begin.
  var isIdle: Bool { atWork == 0 && (isStopped || left + deferredLeft == 0) }

  /// Begins the pass, and returns the nodes that wait for no other node.
  mutating func begin(_ plan: LaunchPlan, isReversed: Bool, at time: Duration) -> [Int] {
    self = Pass()
    (state, self.isReversed, began) = (.underWay, isReversed, time)
    open = (isReversed ? plan.dependents : plan.dependencies).counts
    deferredLeft = plan.nodes.count(where: \.isDeferred)
    left = plan.nodes.count - deferredLeft
    let nodes = open.indices.filter { open[$0] == 0 }
    return isReversed ? nodes.reversed() : nodes
  }

  /// Records that a node has ended, and returns the nodes that waited only for that node.
  ///
  /// If the pass is stopped, returns no nodes.
  mutating func ended(_ node: Int, in plan: LaunchPlan) -> [Int] {
    if plan.nodes[node].isDeferred { deferredLeft -= 1 } else { left -= 1 }
    if isStopped { return [] }
    return (isReversed ? plan.dependencies : plan.dependents)[node].filter { dependent in
      open[dependent] -= 1
      return open[dependent] == 0
    }
  }

  mutating func enqueue(_ node: Int) { if !isStopped { queue.append(node) } }

  /// Gives room to the node that has been in the queue for the longest time; returns nil if the queue is empty.
  mutating func dequeue() -> Int? {
    guard next < queue.count else { return nil }
    next += 1
    atWork += 1
    return queue[next - 1]
  }

  /// Frees the room of a step that isn't at work anymore.
  mutating func leave() { atWork -= 1 }

  /// Prevents further steps from beginning.
  mutating func stop() {
    if state != .underWay { return }
    state = .stopped
    next = queue.count
  }

  mutating func end() { state = .over }
}

/// A value for each purpose of a pass through the steps.
struct PerPurpose<Value: Sendable>: Sendable {
  private var values: [Value]

  init(_ value: Value) { values = Array(repeating: value, count: LaunchMachine.Purpose.allCases.count) }

  subscript(purpose: LaunchMachine.Purpose) -> Value {
    _read { yield values[purpose.rawValue] }
    _modify { yield &values[purpose.rawValue] }
  }
}
