public import Foundation

/// A note.
public struct Note: Codable, Hashable, Sendable {
  /// The number by which commands name it, from 1 on.
  public let number: Int
  /// The text of the note.
  public let text: String
  /// Whether it comes first.
  public let isUrgent: Bool
  /// When it was added.
  public let date: Date
}

/// A place that keeps notes.
public protocol Notebook: Sendable {
  /// Returns the notes, in the order in which they were added.
  ///
  /// - Throws: Errors of the place.
  func notes() throws -> [Note]

  /// Replaces all notes.
  ///
  /// - Throws: Errors of the place; the notes are then as before.
  func replace(with notes: [Note]) throws
}

/// A file of notes in JSON, written as a whole.
struct FileNotebook: Notebook {
  let url: URL

  func notes() throws -> [Note] {
    guard FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else { return [] }
    return try JSONDecoder().decode([Note].self, from: Data(contentsOf: url))
  }

  func replace(with notes: [Note]) throws {
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try JSONEncoder().encode(notes).write(to: url, options: .atomic)
  }
}

/// A place that commands print to.
public protocol Console: Sendable {
  /// Prints a line.
  func print(_ line: String)
}

/// The standard output.
struct StandardOutput: Console {
  func print(_ line: String) { Swift.print(line) }
}
