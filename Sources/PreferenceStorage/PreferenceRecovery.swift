#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The damage that was found in a preferences file, and the location of a copy of the damaged file.
///
/// A repair keeps all intact lines, before and after the damage. The copy preserves the lines that the repair drops.
public struct PreferenceRecovery: Sendable, Equatable, CustomStringConvertible {
  /// The numbers of the skipped lines, counted from 1, except a damaged first line and an incomplete last line.
  public internal(set) var skippedLines: [Int] = []
  /// The total number of bytes in the skipped lines, including a skipped first line.
  public internal(set) var skippedBytes = 0
  /// The length in bytes of an incomplete last line, which an interrupted write or a truncation leaves.
  public internal(set) var tornBytes = 0
  /// Whether the first line, which identifies the format, was damaged or missing.
  ///
  /// A preferences file that a person has written by hand may lack this line.
  public internal(set) var headerWasDamaged = false
  /// The numbers of the lines that were read despite a wrong checksum, most likely because a person has edited them.
  public internal(set) var editedLines: [Int] = []
  /// The URL of a copy of the damaged file; nil if no copy was made.
  ///
  /// The next write makes the copy before it replaces the damaged file. If the copy can't be made, the file isn't
  /// replaced.
  public internal(set) var copy: URL?

  var isEmpty: Bool { skippedLines.isEmpty && editedLines.isEmpty && tornBytes == 0 && !headerWasDamaged }
  /// Whether the only finding is that the first line is missing.
  ///
  /// A missing first line isn't damage, since a person who writes a file by hand may omit the line.
  package var isOnlyWithoutFirstLine: Bool {
    lacksFirstLine && skippedLines.isEmpty && editedLines.isEmpty && tornBytes == 0
  }
  /// Whether the line that identifies the format is missing, and not just damaged.
  var lacksFirstLine = false

  /// The damage and the path of the copy, as text.
  public var description: String {
    var losses: [String] = []
    if lacksFirstLine {
      losses.append(copy == nil ? "has no first line; the next write adds one" : "the first line was missing")
    } else if headerWasDamaged {
      losses.append("the first line was damaged")
    }
    if !skippedLines.isEmpty {
      losses.append("line \(PreferenceRecovery.list(skippedLines)) could not be read (\(skippedBytes) bytes)")
    }
    if tornBytes > 0 { losses.append("\(tornBytes) bytes at the end are of a write that broke off") }
    if !editedLines.isEmpty {
      losses.append(
        "line \(PreferenceRecovery.list(editedLines)) was edited, as its checksum shows, and counts as it is")
    }
    let place = copy.map { "; what was found is kept in \($0.path)" } ?? ""
    return losses.joined(separator: "; ") + place
  }

  private static func list(_ lines: [Int]) -> String {
    lines.prefix(10).map(String.init).joined(separator: ", ")
      + (lines.count > 10 ? " and \(lines.count - 10) more" : "")
  }
}
