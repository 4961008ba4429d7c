#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import Support

extension LockedFile {
  /// What was damaged.
  ///
  /// Beside the file, so that a transaction's body can ask for it.
  var recovery: PreferenceRecovery? {
    get { contents.recovery.withLock { $0 } }
    set { contents.recovery.withLock { $0 = newValue } }
  }

  /// Whether a repair is due: not for a file that may only be read, and not again and again where it fails.
  var needsRepair: Bool { isDamaged && !repairFailed && readOnly == nil }

  /// Sees to it that a line can be appended: the file may be written, begins with a header and ends with a whole line.
  func makeReady() throws(PreferenceError) {
    if let readOnly { throw .writing(readOnly, path: name) }
    if isDamaged, needsRepair { repair() }
    if let end, end.tornBytes > 0 { cutTornBytes(of: end) }
    if lostTable != nil { keepLostTable() }
    if syncFailure != nil { try rewrite() }
    if end?.length ?? 0 == 0 { try writeHeader() }
  }

  /// Writes the first line of a file that has none, so that it is known for what it is, also to those who append by
  /// hand.
  func writeHeader() throws(PreferenceError) {
    if readOnly != nil { return }
    if end?.tornBytes ?? 0 > 0 { return }
    end = FileEnd()
    try append(Line.header, lineStart: 0)
    makeCreationLast()
  }

  /// Sees to it that a power cut doesn't leave a file of which it can't be told whose it is.
  private func makeCreationLast() {
    guard let descriptor else { return }
    // Nothing was promised yet, so a failure is reported, and remembered for the next synchronization.
    do throws(SystemError) {
      try system.synchronize(descriptor.number)
    } catch {
      syncFailure = error
      return contents.errors.report(.writing(error, path: name))
    }
    do throws(PreferenceError) {
      try synchronizeFolder()
    } catch {
      contents.errors.report(error)
    }
  }

  /// Puts a new file without the damage in the place of this one, which is locked for writing.
  ///
  /// Where that can't be done the damage stays, and is skipped.
  func repair() {
    do throws(PreferenceError) {
      try rewrite()
    } catch {
      repairFailed = true
      contents.errors.report(error)
    }
  }

  /// Cuts off the bytes of a write that broke off, once there is a copy of them.
  ///
  /// If there is no room for a copy they stay: a newline makes them a line of their own, which readers skip.
  private func cutTornBytes(of old: FileEnd) {
    guard let descriptor else { return }
    var new = old
    new.tornBytes = 0
    do throws(SystemError) {
      noteCopy(try copyAside())
      try system.truncate(descriptor.number, to: old.length)
    } catch {
      new.length += old.tornBytes
      new.endsWithoutNewline = true
      isDamaged = true
      repairFailed = true
    }
    end = new
  }

  /// Reports where the file is kept as it was found.
  func noteCopy(_ path: FilePath) { recovery?.copy = URL(filePath: path.description) }

  /// Copies the file as it is to `….damaged-<time>`, its holes as holes, and returns where that is.
  func copyAside() throws(SystemError) -> FilePath {
    guard let descriptor else { throw SystemError.replaced("copy") }
    return try makeCopy { copy throws(SystemError) in
      var offset = 0
      while true {
        let bytes = try descriptor.read(from: offset, to: offset + 1 << 18)
        if bytes.isEmpty { return }
        offset += bytes.count
        try self.checkLimit(offset)
        if bytes.allSatisfy({ $0 == 0 }) {
          try self.system.truncate(copy.number, to: offset)
        } else {
          try copy.append(bytes)
        }
      }
    }
  }

  /// Makes a new file whose name has the time, and returns its path when what is written to it would survive a power cut.
  private func makeCopy(
    _ write: (Descriptor) throws(SystemError) -> Void
  ) throws(SystemError) -> FilePath {
    let time = Date().formatted(
      .iso8601.year().month().day().dateSeparator(.dash).time(includingFractionalSeconds: false)
        .timeSeparator(.omitted))
    var path = location.companion("damaged-\(time)")
    var number = 1
    while true {
      let copy: Descriptor
      do throws(SystemError) {
        copy = Descriptor(try system.open(path, for: .creating), of: system)
      } catch {
        guard error.isTaken else { throw error }
        number += 1
        path = location.companion("damaged-\(time)-\(number)")
        continue
      }
      do throws(SystemError) {
        try write(copy)
        try system.synchronize(copy.number)
        try system.synchronizeFolder(location.folder)
        return path
      } catch {
        discard(path)
        throw error
      }
    }
  }
}

extension LockedFile {
  /// Notes what memory had where another program emptied the file, or cut it off within a line, while it was open, and
  /// returns the keys that are lost.
  ///
  /// An editor that saves in place empties the file for an instant, too, so nothing is made of it before the next write.
  func noteLoss(to parser: LineParser) -> [String] {
    guard let end else { return [] }
    let isCut = parser.end.tornBytes > 0 && parser.end.size < end.size
    let isEmptied = parser.table.isEmpty && parser.end.length < Line.header.count
    if isCut || isEmptied {
      if lostTable == nil { lostTable = contents.table }
    } else if lostTable != nil {
      // It was saved in place, and is whole again.
      lostTable = nil
      recovery = nil
    }
    let lost = lostTable?.keys.filter { parser.table.text(forKey: $0) == nil } ?? []
    if lost.isEmpty { lostTable = nil }
    return lost
  }

  /// Keeps what memory had in a file beside this one, and reports it.
  private func keepLostTable() {
    guard let table = lostTable else { return }
    do throws(SystemError) {
      noteCopy(try makeCopy { copy throws(SystemError) in _ = try self.writeAll(table, to: copy) })
      lostTable = nil
    } catch {
      contents.errors.report(.writing(error, path: name))
    }
  }
}
