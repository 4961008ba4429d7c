extension LaunchReport {
  /// The ids of the steps from the first to the one that ended last, of which each waited for the one before it.
  ///
  /// A step waits for the steps that it comes after and, if the maximum number of steps was running, for the one whose
  /// place it took. The path says what the time of this run was spent on, which is the place to look first. It doesn't
  /// predict another run: without a limit on concurrency, only a faster step of the path makes the launch shorter. With
  /// one, a faster step beside the path may do so too, because it makes room earlier, and even make the launch longer,
  /// because others then begin in another order. Takes time linear in steps and dependencies.
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
