/// The places of the steps that run at once: as many as the width, each taken by one step after another.
struct StepPlaces {
  private let width: Int
  private var unused: Int
  /// The steps whose ends made room that nobody has taken yet, from `first` on, and when.
  private var freed: [(step: Int, time: Duration)] = []
  private var first = 0
  /// How many steps run, which may be more than there are places.
  private(set) var taken = 0

  init(_ width: Int) {
    self.width = width
    unused = width
  }

  var isFull: Bool { taken >= width }

  /// Takes a place for a step.
  ///
  /// - Parameter time: Since when the step could have run.
  /// - Returns: The step that it had to wait for; nil where there was room at that time, or none was needed.
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
    if !isFull { freed.append((step, time)) }
  }
}
