/// What is in a preferences file, line by line, found out without changing it.
package struct FileCheck: Sendable {
  /// What is wrong with a line.
  package struct Problem: Sendable, Equatable {
    package let line: Int
    package let explanation: String
  }

  package private(set) var problems: [Problem] = []
  package private(set) var lineCount = 1
  package private(set) var keyCount = 0
  package private(set) var byteCount = 0
  /// How many bytes the file would have after a compaction.
  package private(set) var neededBytes = 0
  /// Who has kept the file's lock for a second; what broke off may then be a write under way.
  package private(set) var lockHolder: String?

  /// Reads the file under its lock, so that a write under way isn't taken for damage, or without it after a second.
  ///
  /// - Throws: `.unreadable` if it can't be read. What isn't a preferences file is a problem.
  package init(path: FilePath, in system: any FileSystem = PosixFileSystem()) throws(PreferenceError) {
    do throws(SystemError) {
      let path = try system.resolve(path)
      guard try system.status(atPath: path).kind == .file else {
        problems = [Problem(line: 0, explanation: "not a file but a folder or a device")]
        return
      }
      let descriptor = Descriptor(try system.open(path, for: .reading), of: system)
      var patience = Patience(ProcessFile.readingLimit)
      while try !system.tryLock(descriptor.number, exclusively: false) {
        guard patience.wait() else {
          let identity = try system.status(of: descriptor.number).snapshot.identity
          lockHolder = system.lockHolder(of: identity) ?? "another process"
          break
        }
      }
      let size = try system.status(of: descriptor.number).snapshot.size
      read(try descriptor.read(from: 0, to: size))
    } catch {
      throw .reading(error, path: path.description)
    }
  }

  private mutating func read(_ bytes: [UInt8]) {
    var parser = LineParser()
    let header = parser.parseFile(bytes)
    byteCount = bytes.count
    lineCount = max(1, parser.lineCount)
    keyCount = parser.table.count
    neededBytes = parser.table.liveBytes
    switch header {
    case .empty, .whole: break
    case .damaged:
      problems.append(Problem(line: 1, explanation: "is damaged; it should be \"#preferences 1\""))
    case .foreign:
      problems.append(
        Problem(line: 1, explanation: "is not \"#preferences 1\", so the file is another program's"))
    case .laterVersion(let version):
      problems.append(
        Problem(line: 1, explanation: "has version \(version), and this program knows version 1"))
    }
    problems += parser.badLines.filter { $0.number > 1 && parser.damage.skippedLines.contains($0.number) }.map {
      Problem(line: $0.number, explanation: FileCheck.explanation(of: $0.kind))
    }
    if parser.damage.tornBytes > 0, header == .whole {
      problems.append(
        Problem(
          line: parser.lineCount,
          explanation: "broke off after \(parser.damage.tornBytes) bytes; the next write cuts it off"))
    }
  }

  private static func explanation(of kind: Line.Kind) -> String {
    switch kind {
    case .wrongChecksum:
      "has a checksum that doesn't match: it was damaged, or edited by hand. To keep an edit, remove the checksum"
    default:
      "is neither a JSON object nor a checksum and one"
    }
  }
}
