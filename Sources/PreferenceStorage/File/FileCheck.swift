/// What is in a preferences file, line by line, found out without changing it.
package struct FileCheck: Sendable {
  /// What is wrong with lines, in a sentence for each of them.
  package private(set) var problems: [String] = []
  package private(set) var lineCount = 1
  package private(set) var keyCount = 0
  package private(set) var byteCount = 0

  /// Reads the file under its lock, so that a write under way isn't taken for damage, or without it after a second.
  ///
  /// - Throws: `.unreadable` if it can't be read. What isn't a preferences file is a problem.
  package init(path: FilePath, in system: any FileSystem = PosixFileSystem()) throws(PreferenceError) {
    do throws(SystemError) {
      let path = try system.resolve(path)
      guard try system.status(atPath: path).kind == .file else {
        problems = ["not a file but a folder or a device"]
        return
      }
      let descriptor = Descriptor(try system.open(path, for: .reading), of: system)
      var patience = Patience(PreferencesFile.readingLimit)
      while try !system.tryLock(descriptor.number), patience.wait() {}
      defer { system.unlock(descriptor.number) }
      read(try descriptor.read(from: 0, to: system.status(of: descriptor.number).snapshot.size))
    } catch {
      throw .reading(error, path: path.description)
    }
  }

  private mutating func read(_ bytes: [UInt8]) {
    var parser = LineParser()
    let header = parser.parseFile(bytes)
    (byteCount, lineCount, keyCount) = (bytes.count, max(1, parser.lineCount), parser.table.count)
    switch header {
    case .empty, .whole, .begunByHand: break
    case .damaged: problems.append("line 1 is damaged; it should be \"#preferences 1\"")
    case .foreign: problems.append("line 1 is not \"#preferences 1\", so the file is another program's")
    case .laterVersion(let version):
      problems.append("line 1 has version \(version), and this program knows version 1")
    }
    let damage = parser.damage
    for line in (damage.skippedLines + damage.editedLines).sorted() {
      problems.append(
        damage.skippedLines.contains(line)
          ? "line \(line) is neither a JSON object nor a checksum and one"
          : "line \(line) has a checksum that doesn't match: it was edited by hand, and counts as it is")
    }
    if damage.tornBytes > 0, header == .whole {
      problems.append(
        "line \(parser.lineCount) broke off after \(damage.tornBytes) bytes; the next write cuts it off")
    }
  }
}
