extension LaunchReport {
  /// The steps that the whole took as long as: each waited for the one before it, and the last ended last.
  ///
  /// Making any other step faster makes nothing faster. Costs time linear in steps and dependencies.
  public var criticalPath: [String] {
    let places = Dictionary(entries.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    let ran = entries.indices.filter { entries[$0].outcome != .notRun }
    var path: [String] = []
    var next = ran.max { (entries[$0].end, $1) < (entries[$1].end, $0) }
    while let place = next {
      path.append(entries[place].id)
      let waitedFor = entries[place].waitedFor.compactMap { places[$0] }
      next = waitedFor.max { (entries[$0].end, $1) < (entries[$1].end, $0) }
    }
    return path.reversed()
  }
}
