/// The change time by which an unchanged file is recognized.
struct FileStamp {
  /// When the file was last changed, by the system's clock.
  let changeTime: Int64
  /// Whether the time was read so long after the change that a later change would have another time, and all of the file
  /// was read since.
  ///
  /// A time that is still to come, as the clock was set back, counts like one long ago.
  let isSettled: Bool
}

extension LockedFile {
  /// For how long after a change another one may get the same time: the time moves in steps of 1 to 10 ms.
  static let timeStep: Int64 = 20_000_000

  /// How far the time of a change is from now, in nanoseconds.
  func age(of change: Int64) -> Int64 { abs(system.time - change) }

  /// Reads what is new in the file, which has that size now, and not the size that memory knows.
  func catchUp(to size: Int) throws(PreferenceError) {
    guard let end, end.isClean, size > end.size, try readGrowth(after: end, to: size) else { return try readAll() }
  }

  /// Reads the lines that were appended; false if the file has not only been appended to.
  ///
  /// The last line that memory knows has to be where it was: a line that another program has put before it, or an edit that
  /// made the file longer, would have moved it.
  private func readGrowth(after old: FileEnd, to size: Int) throws(PreferenceError) -> Bool {
    guard let last = old.lastLine, let descriptor else { return false }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try descriptor.read(from: last.offset, to: size)
    } catch {
      throw .reading(error, path: name)
    }
    let start = old.length - last.offset
    guard bytes.count == size - last.offset, bytes[start - 1] == UInt8(ascii: "\n"),
      bytes.withUnsafeBufferPointer({ FileEnd.LastLine(of: $0, at: last.offset) }) == last
    else { return false }
    guard apply(bytes[start...], after: old) else { return false }
    noteStamp()
    return true
  }

  /// Reads lines that were appended into memory; false if they are anything else.
  private func apply(_ growth: ArraySlice<UInt8>, after old: FileEnd) -> Bool {
    var parser = LineParser()
    guard parser.parseGrowth(growth, after: old) else { return false }
    if !parser.changes.isEmpty { note(contents.apply(parser.changes)) }
    end = parser.end
    return true
  }

  /// Notes the time of a change that is known, without having read all of the file.
  func noteStamp() {
    guard let descriptor else { return }
    do throws(SystemError) {
      stamp = FileStamp(changeTime: try system.status(of: descriptor.number).snapshot.changeTime, isSettled: false)
    } catch {
      stamp = nil
    }
  }

  /// Reads the file again if it may have been written in place, which its length doesn't show.
  func readAllIfChanged() throws(PreferenceError) {
    if isFresh { return }
    if let stamp, stamp.isSettled, stamp.changeTime == changeTime { return }
    try readAll()
  }

  /// Reads the whole file, and puts what it has in the place of what is in memory.
  ///
  /// The lines of a long file that are known by their checksum aren't parsed again.
  func readAll() throws(PreferenceError) {
    guard let descriptor else { return }
    let bytes: [UInt8]
    let newStamp: FileStamp
    do {
      let snapshot = try system.status(of: descriptor.number).snapshot
      newStamp = FileStamp(
        changeTime: snapshot.changeTime, isSettled: age(of: snapshot.changeTime) > LockedFile.timeStep)
      bytes = try descriptor.read(from: 0, to: snapshot.size)
    } catch {
      throw .reading(error, path: name)
    }
    if !readKnown(bytes) { try parse(bytes) }
    stamp = newStamp
    isFresh = true
    // What broke off may be what another process is about to write.
    if isUnlocked, end?.tornBytes != 0 || isDamaged { end = nil }
  }

  /// Reads what comes after the part that memory knows, if that is as it was.
  private func readKnown(_ bytes: [UInt8]) -> Bool {
    guard let end, end.isClean, end.length <= bytes.count, !isDamaged else { return false }
    let digest = bytes.withUnsafeBufferPointer { bytes in
      bytes.starts(with: Line.header)
        ? LinesDigest(of: UnsafeBufferPointer(rebasing: bytes[Line.header.count..<end.length])) : nil
    }
    guard digest == end.digest else { return false }
    return apply(bytes[end.length...], after: end)
  }

  private func parse(_ bytes: [UInt8]) throws(PreferenceError) {
    var parser = LineParser()
    switch parser.parseFile(bytes) {
    case .empty, .whole, .damaged: break
    case .foreign:
      end = nil
      throw PreferenceError(
        .notAPreferencesFile,
        "does not begin with \"#preferences 1\", so it is another program's; it was not touched."
          + " Move it away or choose another path", path: name)
    case .laterVersion(let version):
      end = nil
      throw PreferenceError(
        .laterVersion,
        "has the format of version \(version), and this program knows version 1; it was not touched."
          + " Use a later version of the program", path: name)
    }
    var damage = parser.damage
    damage.lostKeys = noteLoss(to: parser)
    note(contents.replace(with: parser.table))
    isDamaged = damage.needsRewriting
    if !damage.isEmpty, !isUnlocked { recovery = damage }
    end = parser.end
  }
}

// MARK: Notices

extension LockedFile {
  /// Reads what is new after a notice, which may well be of what was written here, and returns when to look again if
  /// this look can't be sure.
  ///
  /// It waits for no lock: it is called by the thread that serves all watches.
  func followNotice() throws(PreferenceError) -> Duration? {
    let known = try changeIfKnown()
    if let known, stamp?.isSettled == true || age(of: known) <= quietTime { return nextLook }
    try begin(.reading, within: .zero)
    defer { finish() }
    if known != nil || stamp?.changeTime != changeTime { try readAll() }
    return nextLook
  }

  /// When the file was last changed, if it seems to be as memory knows it.
  ///
  /// After a write of this store only its length is known. An edit in place at the same instant is found by the next look.
  private func changeIfKnown() throws(PreferenceError) -> Int64? {
    guard descriptor != nil, let end else { return nil }
    do throws(SystemError) {
      let now = try system.status(atPath: path).snapshot
      let isKnown =
        now.identity == identity && now.size == end.size
        && (stamp == nil || stamp?.changeTime == now.changeTime)
      return isKnown ? now.changeTime : nil
    } catch {
      guard error.isMissing else { throw .reading(error, path: name) }
      return nil
    }
  }

  /// Nil if all of the file was read long enough after its last change.
  ///
  /// What this process has written, and lines that were appended, are known without reading all of the file; so an edit in
  /// place at the same instant shows only then.
  private var nextLook: Duration? {
    guard descriptor != nil else { return nil }
    return end != nil && stamp?.isSettled == true ? nil : .nanoseconds(quietTime) + .milliseconds(5)
  }

  /// For how long a file has to be left alone before all of it is read again: longer for a long one, so that this never
  /// takes more than a hundredth of the time.
  private var quietTime: Int64 { LockedFile.timeStep + Int64(end?.size ?? 0) * 50 }
}
