/// What is in a preferences file, line by line, found out without changing it.
package struct FileCheck: Sendable {
  /// What is wrong with a line.
  package struct Finding: Sendable, Equatable {
    package let line: Int
    package let explanation: String
  }

  package private(set) var findings: [Finding] = []
  package private(set) var lineCount = 1
  package private(set) var keyCount = 0
  package private(set) var byteCount = 0
  /// How many bytes the file would have after a compaction.
  package private(set) var neededBytes = 0

  /// Reads the file under its lock, so that a write under way isn't taken for damage.
  ///
  /// - Throws: `.unreadable` where it can't be read. What isn't a preferences file is a finding.
  package init(path: String, in system: any FileSystem = RealFileSystem()) throws(PreferenceError) {
    do throws(SystemError) {
      let path = try system.resolve(path)
      guard try system.status(atPath: path).kind == .file else {
        findings = [Finding(line: 0, explanation: "not a file but a folder or a device")]
        return
      }
      let descriptor = Descriptor(try system.open(path, for: .reading), of: system)
      try system.lock(descriptor.number, exclusively: false)
      let size = try system.status(of: descriptor.number).extent.size
      read(try descriptor.read(from: 0, to: size))
    } catch {
      throw .reading(error, path: path)
    }
  }

  private mutating func read(_ bytes: [UInt8]) {
    var reader = FileReader()
    let beginning = reader.readAll(bytes)
    byteCount = bytes.count
    lineCount = max(1, reader.lineCount)
    keyCount = reader.table.count
    neededBytes = reader.table.liveBytes
    switch beginning {
    case .empty, .header: break
    case .damagedHeader:
      findings.append(Finding(line: 1, explanation: "is damaged; it should be \"#preferences 1\""))
    case .foreign:
      findings.append(
        Finding(line: 1, explanation: "is not \"#preferences 1\", so the file is another program's"))
    case .laterVersion(let version):
      findings.append(
        Finding(line: 1, explanation: "says version \(version), and this program knows version 1"))
    }
    findings += reader.badLines.map {
      Finding(line: $0.number, explanation: FileCheck.explanation(of: $0.verdict))
    }
    if reader.damage.tornBytes > 0, beginning == .header {
      findings.append(
        Finding(
          line: reader.lineCount,
          explanation: "broke off after \(reader.damage.tornBytes) bytes; the next write cuts it off"))
    }
  }

  private static func explanation(of verdict: PreferenceLine.Verdict) -> String {
    switch verdict {
    case .wrongChecksum:
      "has a checksum that doesn't match: it was damaged, or edited by hand. To keep an edit, remove the checksum"
    default:
      "is neither a JSON object nor a checksum and one"
    }
  }
}
