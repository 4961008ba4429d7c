internal import SpellRegistry

/// A circle of steps that wait for each other, found in what an ordering left over.
struct StepCycle {
  /// The steps, each waiting for the next and the last for the first.
  let indices: [Int]

  /// Walks along the dependencies from the first step that is left until it meets itself.
  ///
  /// - Parameters:
  ///   - dependencies: Who waits for whom.
  ///   - rest: The steps that are left, of which each waits for at least one other of them.
  init(in dependencies: [[Int]], among rest: [Int]) {
    var isLeft = Array(repeating: false, count: dependencies.count)
    for index in rest { isLeft[index] = true }
    var places: [Int: Int] = [:]
    var way: [Int] = []
    var next = rest.first
    while let index = next, places[index] == nil {
      places[index] = way.count
      way.append(index)
      next = dependencies[index].first { isLeft[$0] }
    }
    let circle = Array(way[(next.flatMap { places[$0] } ?? 0)...])
    // It begins with the step that is written first.
    let first = circle.indices.min { circle[$0] < circle[$1] } ?? 0
    indices = Array(circle[first...] + circle[..<first])
  }

  func error(_ steps: [LaunchStep], _ names: StepNames) -> LaunchPlanError {
    let path = (indices + indices.prefix(1)).map { names.ids[$0] }
    let place = indices.first.flatMap { steps[$0].place?.description } ?? ""
    guard indices.count > 1 else {
      return LaunchPlanError(
        .cycle, path: path, place: place, "\"\(path[0])\" waits for itself, so it could never begin.")
    }
    let shown = path.count > 12 ? path.prefix(6) + ["(\(path.count - 9) more)"] + path.suffix(3) : path[...]
    let places = indices.prefix(6).compactMap { index in
      steps[index].place.map { "\(names.ids[index]) is at \($0)" }
    }
    // Two of the line, one waiting for the other, without either having said so.
    let byLine = indices.indices.filter { !steps[indices[$0]].declaresOrder }
    let line = byLine.first { place in
      let next = indices[(place + 1) % indices.count]
      return !steps[next].declaresOrder && next < indices[place]
    }.map { place in
      """
       \(names.ids[indices[place]]) is after \(names.ids[indices[(place + 1) % indices.count]]) only because it is \
      written after it; .after() with no name frees it.
      """
    }
    return LaunchPlanError(
      .cycle, path: path, place: place,
      """
      Each of these waits for the next, so that none could ever begin: \(shown.joined(separator: " → ")). \
      Remove one .after or .before.\(line ?? "") [\(places.joined(separator: "; "))]
      """)
  }
}
