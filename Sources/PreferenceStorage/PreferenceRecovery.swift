#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The damage in a preferences file, and what became of it.
///
/// Everything that is whole is kept, before the damage and after it. What is dropped stays in the copy.
public struct PreferenceRecovery: Sendable, Equatable, CustomStringConvertible {
  /// The numbers of the lines that were skipped, from 1, without a last line that broke off.
  public internal(set) var skippedLines: [Int] = []
  /// The number of bytes of the skipped lines.
  public internal(set) var skippedBytes = 0
  /// The number of bytes of an incomplete line at the end: a write that was interrupted, or a file that was cut short.
  public internal(set) var tornBytes = 0
  /// True if the first line, which says what the file is, was damaged or missing, as it is in a file begun by hand.
  public internal(set) var headerWasDamaged = false
  /// The numbers of the lines that count though their checksum is wrong: a person has edited them.
  public internal(set) var editedLines: [Int] = []
  /// The path of the copy of the file as it was found.
  ///
  /// Nil until something has to be dropped from the file (bytes at the end go at the next write), or if
  /// no copy could be made; then nothing was dropped.
  public internal(set) var copy: URL?

  mutating func noteCopy(at path: String) { copy = URL(filePath: path) }

  var isEmpty: Bool { skippedLines.isEmpty && editedLines.isEmpty && tornBytes == 0 && !headerWasDamaged }
  /// Whether a new file lacks something of this one, which is then kept in a copy.
  var dropsBytes: Bool { skippedBytes > 0 || tornBytes > 0 || headerWasDamaged }

  /// The loss, in a sentence.
  public var description: String {
    var losses: [String] = []
    if headerWasDamaged { losses.append("the first line was damaged or missing") }
    if !skippedLines.isEmpty {
      losses.append("line \(PreferenceRecovery.list(skippedLines)) could not be read (\(skippedBytes) bytes)")
    }
    if tornBytes > 0 { losses.append("\(tornBytes) bytes at the end are of a write that broke off") }
    if !editedLines.isEmpty {
      losses.append(
        "line \(PreferenceRecovery.list(editedLines)) was edited by hand, as its checksum shows, and counts as it is")
    }
    let place = copy.map { "; what was found is kept in \($0.path)" } ?? ""
    return losses.joined(separator: "; ") + place
  }

  private static func list(_ lines: [Int]) -> String {
    lines.prefix(10).map(String.init).joined(separator: ", ")
      + (lines.count > 10 ? " and \(lines.count - 10) more" : "")
  }
}
