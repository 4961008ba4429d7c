/// Steps that are ready, the first in the plan on top: a binary heap.
struct StepHeap: Sendable {
  private var places: [Int] = []

  var isEmpty: Bool { places.isEmpty }

  mutating func removeAll() { places.removeAll() }

  mutating func insert(_ place: Int) {
    places.append(place)
    var child = places.count - 1
    while child > 0, places[child] < places[(child - 1) / 2] {
      places.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func popFirst() -> Int? {
    guard let first = places.first, let last = places.popLast() else { return nil }
    guard !places.isEmpty else { return first }
    places[0] = last
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < places.count else { break }
      let child = left + 1 < places.count && places[left + 1] < places[left] ? left + 1 : left
      guard places[child] < places[parent] else { break }
      places.swapAt(child, parent)
      parent = child
    }
    return first
  }
}
