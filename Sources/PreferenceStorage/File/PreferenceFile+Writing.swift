extension PreferenceFile {
  /// Writes the changes as one line at the end of the file, which is locked for writing, and then makes them in memory.
  ///
  /// When it throws, file and memory are as they were.
  mutating func write(_ changes: some Collection<PreferenceChange>) throws(PreferenceError) {
    try makeReady()
    buffer.removeAll(keepingCapacity: true)
    if endsWithoutNewline { buffer.append(UInt8(ascii: "\n")) }
    PreferenceLine.append(changes, to: &buffer)
    try append(buffer)
    endsWithoutNewline = false
    changedKeys.formUnion(values.apply(changes))
    if buffer.capacity > 1 << 16 { buffer = [] }
    if length > compactionMinimum, length > compactionThreshold { compactIfWorthwhile() }
  }

  /// Sees to it that a line can be appended: the file may be written, begins with a header and ends with a whole line.
  mutating func makeReady() throws(PreferenceError) {
    if let readOnly { throw .writing(readOnly, path: path) }
    if needsRepair { repair() }
    if tornBytes > 0 { cutTornBytes() }
    if syncFailure != nil { try rewrite() }
    if length <= 0 { try writeHeader() }
  }

  /// Writes the first line of a file that has none, so that it is known for what it is, also to those who append by
  /// hand.
  mutating func writeHeader() throws(PreferenceError) {
    if readOnly != nil { return }
    length = 0
    try append(PreferenceLine.header)
    verifiedLength = length
    endsWithoutNewline = false
    makeCreationLast()
  }

  /// Sees to it that a power cut doesn't leave a file of which nobody can tell whose it is.
  private mutating func makeCreationLast() {
    guard let descriptor else { return }
    // Nothing was promised yet, so a failure is told, and remembered for those who ask for a synchronisation.
    do throws(SystemError) {
      try system.synchronize(descriptor.number)
    } catch {
      syncFailure = error
      return values.errors.report(.writing(error, path: path))
    }
    do throws(PreferenceError) {
      try synchronizeFolder()
    } catch {
      values.errors.report(error)
    }
  }

  /// Appends all the bytes or none.
  private mutating func append(_ bytes: [UInt8]) throws(PreferenceError) {
    guard let descriptor else { return }
    do throws(SystemError) {
      try checkLimit(length + bytes.count)
      try descriptor.append(bytes)
    } catch {
      takeBack(from: descriptor)
      throw .writing(error, path: path)
    }
    length += bytes.count
    modified = nil
  }

  /// Cuts off what a write that failed has left.
  ///
  /// If that fails too the next one finds it as bytes that broke off.
  private mutating func takeBack(from descriptor: Descriptor) {
    do {
      let size = try system.status(of: descriptor.number).extent.size
      if size > length { try system.truncate(descriptor.number, to: length) }
    } catch {
      length = -1
    }
  }

  /// Cuts off the bytes of a write that broke off, once there is a copy of them.
  ///
  /// If there is no room for a copy they stay: a newline makes them a line of their own, which readers skip.
  private mutating func cutTornBytes() {
    guard let descriptor else { return }
    do throws(SystemError) {
      noteCopy(try copyAside())
      try system.truncate(descriptor.number, to: length)
    } catch {
      length += tornBytes
      endsWithoutNewline = true
      isDamaged = true
      repairFailed = true
    }
    tornBytes = 0
    verifiedLength = length
  }
}
