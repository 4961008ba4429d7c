public import Foundation

/// A note.
public struct Note: Codable, Hashable, Sendable {
  /// The number that commands use for the note, from 1 on.
  public let number: Int
  /// The text of the note.
  public let text: String
  /// Whether the note comes first.
  public let isUrgent: Bool
  /// The time at which the note was added.
  public let date: Date
}

/// A type that stores notes.
public protocol Notebook: Sendable {
  /// Returns the notes, in the order in which they were added.
  ///
  /// - Throws: An error of the storage.
  func notes() throws -> [Note]

  /// Replaces all notes.
  ///
  /// - Throws: An error of the storage; the notes are then unchanged.
  func replace(with notes: [Note]) throws
}

/// A JSON file of notes, which each change rewrites.
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

/// The output of the commands.
public protocol Console: Sendable {
  /// Prints a line.
  func print(_ line: String)
}

/// The standard output.
struct StandardOutput: Console {
  func print(_ line: String) { Swift.print(line) }
}
