import Support

/// Rewriting without a second file: one that can't be replaced, or a full disk.
extension PreferencesFile {
  /// Rewrites the locked file, which can't be replaced by another one, with a line for each key of the table.
  ///
  /// First, a record with all values is appended. It has the final say until the file is cut off after the new lines. Each
  /// step is synchronized before the next one, so the process may end, or the power fail, at any time.
  ///
  /// The new lines begin with the empty change, by which other processes see that a store has rewritten the file. They
  /// end with a line unlike any other, by which they see that it was rewritten again, even to the same length.
  func rewriteInPlace(with table: ValueTable) throws(SystemError) {
    guard let descriptor else { return }
    let old = try contents(of: descriptor)
    let lines = PreferencesFile.compacted(table, startingWith: Line.header + Line.markOfRewriting) + Line.uniqueMark()
    var end: [UInt8] = known?.lacksNewline == true ? [UInt8(ascii: "\n")] : []
    end += PreferencesFile.blanks(lines.count - old.count - end.count)
    let start = old.count + end.count
    Line.append(PreferencesFile.allChanges(to: table, of: old), to: &end)
    try append(end)
    try descriptor.synchronizeRewriting()
    do throws(SystemError) {
      try overwrite(from: 0, with: lines + PreferencesFile.blanks(start - lines.count))
      try descriptor.synchronizeRewriting()
      // A program that ignores the lock may have appended a line.
      guard try system.status(of: descriptor.number).size == old.count + end.count else {
        throw SystemError("ftruncate", ESTALE)
      }
      try system.truncate(descriptor.number, to: lines.count)
    } catch {
      known = nil
      throw error
    }
    descriptor.noteRewritten()
    noteRewritten([lines])
  }

  /// Makes changes on a full disk, on which neither another line nor a second file has room.
  ///
  /// A record with all values overwrites lines that no longer count, and the file is cut off after the record. If no value
  /// is left, the file is cut off after its first line.
  ///
  /// - Returns: True if the changes were made; false if no such lines have room for the record.
  func shrinkInPlace(to table: ValueTable, by changes: [PreferenceChange]) throws(SystemError) -> Bool {
    guard let descriptor, damage.isEmpty else { return false }
    let old = try contents(of: descriptor)
    guard old.starts(with: Line.header) else { return false }
    var parts = [Line.header]
    if !table.isEmpty {
      var record: [UInt8] = []
      Line.append(PreferencesFile.allChanges(to: table, of: old), to: &record)
      record += Line.uniqueMark()
      let removed = Set(changes.filter { $0.text == nil }.map(\.key))
      guard let room = FreeRoom.find(for: record.count, in: old, removing: removed) else { return false }
      try overwrite(from: room.lowerBound, with: record + PreferencesFile.blanks(room.count - record.count))
      try descriptor.synchronize()
      parts = [Array(old[..<room.lowerBound]), record]
    }
    try system.truncate(descriptor.number, to: parts.reduce(0) { $0 + $1.count })
    let hadValueToErase = hasValueToErase
    noteRewritten(parts)
    hasValueToErase = hadValueToErase && !table.isEmpty
    return true
  }

  /// Overwrites a part of the file through a descriptor of its own, since the other one only appends.
  private func overwrite(from offset: Int, with bytes: [UInt8]) throws(SystemError) {
    let file = Descriptor(try system.open(location.path, for: .overwriting), of: system)
    guard try system.status(of: file.number).identity == identity else { throw SystemError("open", ESTALE) }
    try system.writeAll(bytes, to: file.number, at: offset)
  }

  private func contents(of descriptor: Descriptor) throws(SystemError) -> [UInt8] {
    let bytes = try descriptor.readAll()
    guard let known, known.isAll(of: bytes) else { throw .outdated }
    return bytes
  }

  private func noteRewritten(_ parts: [[UInt8]]) {
    guard let descriptor else { return }
    var known = KnownPart()
    for part in parts { part.withUnsafeBufferPointer { known.append($0) } }
    known.noteCompared()
    replace(with: descriptor, identity: identity, known: known)
  }

  /// Returns a blank line of that many bytes with its newline; nothing for zero or less.
  private static func blanks(_ count: Int) -> [UInt8] {
    count > 0 ? Array(repeating: UInt8(ascii: " "), count: count - 1) + [UInt8(ascii: "\n")] : []
  }

  /// Returns changes after which a store has the values of the table, whichever lines of the file remain before them.
  private static func allChanges(to table: ValueTable, of file: [UInt8]) -> [PreferenceChange] {
    let removed = Set(LineParser.changes(in: file[...]).map(\.key)).filter { table.text(forKey: $0) == nil }
    return table.allEntries + removed.map { PreferenceChange(key: $0, text: nil) }
  }
}
