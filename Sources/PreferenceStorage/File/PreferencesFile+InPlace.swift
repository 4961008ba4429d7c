import Support

/// The rewriting of a file in place, if a new file can't replace it or the disk has no space for a second file.
extension PreferencesFile {
  /// Rewrites the locked file in place, with a line for each key of the table.
  ///
  /// This method is called only if a new file can't replace the file. First, a record with all values is appended.
  /// Then the new lines overwrite the beginning of the file, and the file is truncated after them. Until the file is
  /// truncated, the appended record determines the values. Each step is synchronized before the next step, so that no
  /// values are lost if the process ends or the power fails.
  ///
  /// The line after the header is `Line.markOfRewriting`, which shows a person that a store has rewritten the file. The
  /// last line is unique (`Line.uniqueMark()`), so that other processes notice the rewriting even if the length is
  /// unchanged, and can distinguish the rewritten file from a restored copy.
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
    noteRewritten(lines)
  }

  /// Makes changes on a disk that has no space for another line or for a second file.
  ///
  /// A record with all values overwrites lines with obsolete values, and the file is truncated after the record. If no
  /// value is left, the file is truncated after its first line.
  ///
  /// Until the file is truncated, it can have some of the changes without the others, which readers in other processes
  /// may see. If a step fails before the file is truncated, the store tries to put the overwritten lines back.
  ///
  /// - Returns: True if the changes were made; false if no obsolete lines have room for the record, or if the file is
  ///   damaged or doesn't begin with `Line.header`.
  func shrinkInPlace(to table: ValueTable, by changes: [PreferenceChange]) throws(SystemError) -> Bool {
    guard let descriptor, damage.isEmpty else { return false }
    let old = try contents(of: descriptor)
    guard old.starts(with: Line.header) else { return false }
    var (start, record, filler) = (Line.header.count, [UInt8](), [UInt8]())
    if !table.isEmpty {
      Line.append(PreferencesFile.allChanges(to: table, of: old), to: &record)
      record += Line.uniqueMark()
      let removed = Set(changes.filter { $0.text == nil }.map(\.key))
      guard let room = FreeRoom.find(for: record.count, in: old, removing: removed) else { return false }
      (start, filler) = (room.lowerBound, PreferencesFile.blanks(room.count - record.count))
    }
    let new: [UInt8] = old[..<start] + record
    do throws(SystemError) {
      if !record.isEmpty {
        try overwrite(from: start, with: record + filler)
        try descriptor.synchronize()
      }
      try system.truncate(descriptor.number, to: new.count)
    } catch {
      // If `truncate` has shortened the file despite its error, the changes are made, so the overwritten lines must not
      // be put back.
      if let status = try? system.status(of: descriptor.number), status.size == old.count {
        try? overwrite(from: start, with: Array(old[start...].prefix(record.count + filler.count)))
      }
      throw error
    }
    let hadValueToErase = hasValueToErase
    noteRewritten(new)
    hasValueToErase = hadValueToErase && !table.isEmpty
    return true
  }

  /// Overwrites a part of the file through a new descriptor, since the store's descriptor only appends.
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

  private func noteRewritten(_ bytes: [UInt8]) {
    guard let descriptor else { return }
    var parser = LineParser()
    _ = parser.parseFile(bytes)
    replace(with: descriptor, identity: identity, known: parser.known)
    uniqueMark = parser.uniqueMark ?? uniqueMark
  }

  /// Returns a blank line with a total of `count` bytes, including its newline; empty if `count` is zero or negative.
  private static func blanks(_ count: Int) -> [UInt8] {
    count > 0 ? Array(repeating: UInt8(ascii: " "), count: count - 1) + [UInt8(ascii: "\n")] : []
  }

  /// Returns changes that set every value of the table, and remove every other key that occurs in the file.
  ///
  /// If a file ends with a record of these changes, it has exactly the values of the table. The lines before the record
  /// may be any lines of the old file, or some of the new lines that overwrite the old lines.
  private static func allChanges(to table: ValueTable, of file: [UInt8]) -> [PreferenceChange] {
    let removed = Set(LineParser.changes(in: file[...]).map(\.key)).filter { table.text(forKey: $0) == nil }
    return table.allEntries + removed.map { PreferenceChange(key: $0, text: nil) }
  }
}
