import Support

extension PreferencesFile {
  /// Reads the file, or removes all values from memory if the file doesn't exist.
  ///
  /// A file that seems damaged is read again under its lock, for which the method waits up to a second.
  func reload() throws(PreferenceError) {
    try inTurn(within: Turn.defaultLimit) { () throws(PreferenceError) in
      do throws(PreferenceError) { try lookAround(waiting: PreferencesFile.readingLimit) } catch {
        noteFailure(error)
        throw error
      }
    }
  }

  /// Reads the file that is at the path now.
  ///
  /// The first read takes no lock, so that no process has to wait. A line that another process is still writing then
  /// looks damaged. If the file seems damaged, the method waits for the file's lock, and reads the file again. If the
  /// lock isn't free within the limit, the result of the first read remains.
  func lookAround(waiting limit: Duration) throws(PreferenceError) {
    for _ in 0..<1000 {
      let start = ContinuousClock.now
      defer { memory.withLock { $0.lastLook = start } }
      guard let descriptor = try openFile(making: false) else { return removeAllFromMemory() }
      guard let now = try snapshot(), now.identity == identity else {
        leave()
        continue
      }
      if try look(isLocked: false) { return }
      var patience = Patience(limit: limit)
      repeat {
        let isTaken = try asking { () throws(SystemError) in try system.tryLock(descriptor.number) }
        guard isTaken else { continue }
        defer { unlock() }
        try look(isLocked: true)
        return
      } while patience.wait()
      return
    }
    throw neverSettled
  }

  /// Reads the lines that follow the known part of the file (`KnownPart`), up to the offset `size`.
  ///
  /// - Returns: True if the lines were read. False if the known part is empty, lacks its last newline, or has changed
  ///   at its end. Also false if no line follows, or if a line that follows lacks a valid checksum or its newline.
  func readTail(to size: Int) throws(PreferenceError) -> Bool {
    guard let descriptor, let known, !known.lacksNewline, known.length > 0, size > known.length else { return false }
    let start = known.endStart.length
    let bytes = try asking { () throws(SystemError) in try descriptor.read(from: start, to: size) }
    guard known.endsLike(bytes), let parser = parse(bytes[(known.length - start)...], after: known), parser.isAllChecked
    else { return false }
    apply(parser)
    return true
  }

  /// Compares the file with the end of the known part (`KnownPart`), and reads the whole file if they differ.
  ///
  /// Only writes call this method. The calling thread holds the file's lock, unless the file can be opened only for
  /// reading.
  ///
  /// The whole of a short file is compared (`KnownPart.isShort`). The length alone proves nothing, because a program
  /// that ignores the lock may have edited the file without changing the length.
  func confirm() throws(PreferenceError) {
    guard let descriptor, let known, known.length > 0 else {
      try look(isLocked: readOnly == nil)
      return
    }
    let start = known.endStart.length
    // A byte after the known part would show that the file has grown.
    let bytes = try asking { () throws(SystemError) in try descriptor.read(from: start, to: known.length + 1) }
    if bytes.count == known.length - start, known.endsLike(bytes) {
      self.known?.noteCompared()
      memory.withLock { $0.failure = nil }
      return
    }
    try look(isLocked: readOnly == nil)
  }

  /// Makes sure that memory has the values of the locked file, unless the file is long; returns false for a long file.
  ///
  /// If the result is true, a value that is already in memory needs no new line in the file. For a long file, writing
  /// a new line takes less time than comparing the file.
  func isConfirmed() throws(PreferenceError) -> Bool {
    guard known?.isShort != false else { return false }
    try confirm()
    return true
  }

  /// Parses the lines that follow the known part of the file; returns nil if a line is damaged or has a wrong checksum.
  private func parse(_ bytes: ArraySlice<UInt8>, after known: KnownPart) -> LineParser? {
    var parser = LineParser(after: known)
    bytes.withUnsafeBufferPointer { _ = parser.parseLines($0) }
    return parser.damage.isEmpty ? parser : nil
  }

  private func apply(_ parser: LineParser) {
    known = parser.known
    uniqueMark = parser.uniqueMark ?? uniqueMark
    written.subtract(parser.changes.map(\.key))
    apply(parser.changes)
  }

  /// Reads the whole file, and updates memory to match it.
  ///
  /// If the known part of the file has the same checksum as before, only the lines that follow it are parsed.
  ///
  /// - Returns: False if the file seems damaged and `isLocked` is false. The caller must then read the file again under
  ///   its lock.
  @discardableResult
  func look(isLocked: Bool) throws(PreferenceError) -> Bool {
    guard let descriptor else { return true }
    let bytes = try asking { () throws(SystemError) in try descriptor.readAll() }
    if takeOverAppended(bytes) != nil { return true }
    return try readAll(bytes, isLocked: isLocked)
  }

  /// Applies to memory the lines that follow the known part of the file.
  ///
  /// - Parameter bytes: All bytes of the file.
  /// - Returns: The changes in these lines. Nil if `known` is nil, if the known part has changed, if bytes
  ///   follow although its last newline is missing, or if a line after it is damaged or has a wrong checksum.
  func takeOverAppended(_ bytes: [UInt8]) -> [PreferenceChange]? {
    guard let known, known.length > 0, !known.lacksNewline || known.length == bytes.count, known.isBeginning(of: bytes),
      let parser = parse(bytes[known.length...], after: known)
    else { return nil }
    apply(parser)
    return parser.changes
  }

  private func readAll(_ bytes: [UInt8], isLocked: Bool) throws(PreferenceError) -> Bool {
    let isKnownFile = known != nil
    known = nil
    var parser = LineParser()
    switch parser.parseFile(bytes) {
    case .empty, .whole, .damaged: break
    case .foreign:
      throw PreferenceError(
        .notAPreferencesFile,
        "does not begin with the line \"#preferences 1\", so it is another program's; it was not touched."
          + " Move it away or choose another path", path: name)
    case .laterVersion(let version):
      throw PreferenceError(
        .laterVersion,
        "has the format of version \(version), and this program knows version 1; it was not touched."
          + " Use a later version of the program", path: name)
    }
    try keepOthersOut()
    let old = replaceMemory(with: parser.table)
    if ownHub.isHeard { for change in changes(to: parser.table, since: old, in: bytes) { note(change) } }
    let isSound = parser.damage.isEmpty
    damage = isLocked ? parser.damage : PreferenceRecovery()
    if damage.isEmpty { repairThreshold = .max } else if repairThreshold == .max { repairThreshold = 0 }
    guard isSound || isLocked else {
      // Another process may be rewriting the file, so the next read decides whether values were lost.
      lastTable = lastTable ?? old
      return false
    }
    known = parser.known
    // A new unique mark shows that another store has rewritten the file in place. If only the header is left, a store
    // has removed all values on a full disk. In both cases, no loss is reported. A restored copy from before the last
    // rewriting in place can also have a different mark. Then the loss of values that the copy lacks isn't reported.
    let hasNewMark = parser.uniqueMark != nil && parser.uniqueMark != uniqueMark
    if hasNewMark || isKnownFile && bytes == Line.header { written = [] }
    if !written.isEmpty { reportLoss(since: lastTable ?? old, in: bytes, parser.table) }
    (lastTable, wasCarriedOver) = (nil, false)
    uniqueMark = parser.uniqueMark ?? uniqueMark
    if !isSound { memory.withLock { $0.recovery = parser.damage } }
    return true
  }

  /// Replaces the table in memory and the error that reads throw; returns the old table.
  private func replaceMemory(with table: ValueTable, because failure: PreferenceError? = nil) -> ValueTable {
    memory.withLock { memory in
      defer { (memory.table, memory.failure) = (table, failure) }
      return memory.table
    }
  }

  /// Returns the changes that turn the old values into the new ones.
  ///
  /// If `records()` has a reader, and another process has compacted the old file, the result has the changes of all
  /// lines that follow the compacted values. A key that several lines change then occurs several times.
  private func changes(to new: ValueTable, since old: ValueTable, in file: [UInt8]) -> [PreferenceChange] {
    guard wasCarriedOver, ownHub.hasRecordReaders else { return new.changes(since: old) }
    let carriedOver = PreferencesFile.compacted(old)
    guard file.starts(with: carriedOver) else { return new.changes(since: old) }
    return LineParser.changes(in: file[carriedOver.count...])
  }

  /// Reports an error if values that this process has set were lost because another program has changed the file.
  private func reportLoss(since old: ValueTable, in file: [UInt8], _ new: ValueTable) {
    let lost = new.changes(since: old).map(\.key).filter { written.contains($0) }.sorted()
    if lost.isEmpty { return }
    written.subtract(lost)
    // A file that a compaction has put at the path begins with the values of the old file, unlike a restored copy.
    // Lines after this beginning are ordinary writes.
    if wasCarriedOver, file.starts(with: PreferencesFile.compacted(old)) { return }
    let names = lost.prefix(5).map(\.debugDescription).joined(separator: ", ")
    ownHub.report(
      PreferenceError(
        .overwritten,
        "another program has replaced the file, or written in it, without its lock. What was set here last of"
          + " \(lost.count) keys isn't in it, and they have the values of the file: \(names)"
          + (lost.count > 5 ? " and others" : "") + ". Set them again if they were to stay", path: name))
  }

  /// Removes all values from memory, because no file is open now.
  func removeAllFromMemory(because failure: PreferenceError? = nil) {
    let old = replaceMemory(with: ValueTable(), because: failure)
    if old.isEmpty { return }
    for key in old.keys { note(PreferenceChange(key: key, text: nil)) }
    lastTable = old
  }

  /// Closes the open file, which is no longer at the path.
  ///
  /// The method first applies to memory the lines that were last appended to the file, if they have valid checksums.
  func leave() {
    guard let old = descriptor else { return }
    wasCarriedOver = false
    do {
      // The process that appends `Line.mark` holds the lock until it has moved the new file to the path, or has revoked
      // the mark. After this wait, the last lines of the old file are usually final.
      var patience = Patience(limit: .milliseconds(100))
      while try !system.tryLock(old.number), patience.wait() {}
      defer { system.unlock(old.number) }
      let size = try system.status(of: old.number).size
      _ = try readTail(to: size)
      wasCarriedOver = try old.read(from: max(0, size - Line.mark.count), to: size) == Line.mark
    } catch {
      // If the old file can't be read, the values come only from the file that is now at the path.
    }
    descriptor = nil
  }
}
