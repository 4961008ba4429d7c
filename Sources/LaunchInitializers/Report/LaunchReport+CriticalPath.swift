extension LaunchReport {
  /// The steps that the whole took as long as: each waited for the one before it, and the last ended last.
  ///
  /// A step waits for those it comes after, and for the one whose place it took. Making any other step faster makes
  /// nothing faster. Costs time linear in steps and dependencies.
  public var criticalPath: [String] {
    let places = Dictionary(entries.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    let ran = entries.indices.filter { entries[$0].outcome != .notRun }
    var path: [String] = []
    var next = ran.max { (entries[$0].end, $1) < (entries[$1].end, $0) }
    while let place = next {
      path.append(entries[place].id)
      // The place came later than all that it comes after, or there would have been nothing to wait for.
      let waitedFor = entries[place].tookPlaceOf.map { [$0] } ?? entries[place].waitedFor
      next = waitedFor.compactMap { places[$0] }.max { (entries[$0].end, $1) < (entries[$1].end, $0) }
    }
    return path.reversed()
  }
}
