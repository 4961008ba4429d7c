/// The number of steps that may run at once, and the steps whose ends made room for others.
struct ConcurrencyLimit: Sendable {
  private let limit: Int
  private var unused: Int
  /// The steps whose ends made room that no step has taken yet, from `first` on, and when.
  private var freed: [(step: Int, time: Duration)] = []
  private var first = 0
  /// The number of running steps, which may exceed the limit.
  private(set) var taken = 0

  init(_ limit: Int) {
    self.limit = limit
    unused = limit
  }

  var isReached: Bool { taken >= limit }

  /// Makes room for a step.
  ///
  /// - Parameter time: Since when the step could have run.
  /// - Returns: The step that it had to wait for; nil if there was room at that time, or none was needed.
  mutating func take(since time: Duration) -> Int? {
    taken += 1
    if unused > 0 {
      unused -= 1
      return nil
    }
    guard first < freed.count else { return nil }
    let room = freed[first]
    first += 1
    if first == freed.count {
      freed.removeAll(keepingCapacity: true)
      first = 0
    }
    return room.time > time ? room.step : nil
  }

  mutating func leave(_ step: Int, at time: Duration) {
    taken -= 1
    if !isReached { freed.append((step, time)) }
  }
}
