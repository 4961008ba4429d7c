extension PreferenceFile {
  /// Reads what is new in the file, which is locked and of that size.
  mutating func catchUp(to size: Int) throws(PreferenceError) {
    if size == length {
      verifiedLength = length
      return
    }
    guard length > 0, size > verifiedLength else { return try readAll() }
    let appended = try read(from: verifiedLength, to: size)
    var reader = FileReader()
    let startsLine = verifiedLength != length || !endsWithoutNewline
    guard reader.readAppended(appended, at: verifiedLength, afterNewline: startsLine) else {
      return try readAll()
    }
    changedKeys.formUnion(values.apply(reader.changes))
    noteEnd(of: reader)
    modified = nil
  }

  /// Reads the whole file, which is locked, and puts what it says in the place of what is in memory.
  mutating func readAll() throws(PreferenceError) {
    guard let descriptor else { return }
    var reader = FileReader()
    let file: [UInt8]
    do {
      let status = try system.status(of: descriptor.number)
      file = try descriptor.read(from: 0, to: status.extent.size)
      modified = status.modified
    } catch {
      throw .reading(error, path: path)
    }
    switch reader.readAll(file) {
    case .empty, .header, .damagedHeader: break
    case .foreign:
      throw PreferenceError(
        .notAPreferencesFile,
        "does not begin with \"#preferences 1\", so it is another program's; it was not touched."
          + " Move it away or choose another path", path: path)
    case .laterVersion(let version):
      throw PreferenceError(
        .laterVersion,
        "has the format of version \(version), and this program knows version 1; it was not touched."
          + " Use a later version of the program", path: path)
    }
    changedKeys.formUnion(values.replace(with: reader.table))
    isDamaged = reader.damage.needsRewriting
    if !reader.damage.isEmpty { recovery = reader.damage }
    noteEnd(of: reader)
  }

  /// Reads the whole file if it may have been written in place, which its length doesn't show.
  mutating func readAllIfModified() throws(PreferenceError) {
    guard let descriptor else { return }
    do {
      let status = try system.status(of: descriptor.number)
      if let modified, modified == status.modified { return }
    } catch {
      throw .reading(error, path: path)
    }
    try readAll()
  }

  /// Reads what is new after a notice, which may well be of what was written here.
  ///
  /// To be called without the lock.
  mutating func followNotice() throws(PreferenceError) {
    if descriptor != nil, length >= 0 {
      do throws(SystemError) {
        let status = try system.status(atPath: path)
        if status.extent == FileExtent(identity: identity, size: length) {
          if modified == nil { modified = status.modified }
          if modified == status.modified { return }
        }
      } catch {
        guard error.isMissing else { throw .reading(error, path: path) }
      }
    }
    try begin(.reading)
    defer { end() }
    try readAllIfModified()
  }

  private func read(from start: Int, to end: Int) throws(PreferenceError) -> [UInt8] {
    do {
      return try descriptor?.read(from: start, to: end) ?? []
    } catch {
      throw .reading(error, path: path)
    }
  }

  private mutating func noteEnd(of reader: FileReader) {
    length = reader.goodLength
    verifiedLength = length
    endsWithoutNewline = reader.endsWithoutNewline
    tornBytes = reader.damage.tornBytes
    if tornBytes > 0, recovery == nil { recovery = reader.damage }
  }
}
