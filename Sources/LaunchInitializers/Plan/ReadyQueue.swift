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
