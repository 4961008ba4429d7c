public import Foundation

/// A note that a `Notebook` stores.
public struct Note: Codable, Hashable, Sendable {
  /// The number by which commands identify the note, starting at 1.
  public let number: Int
  /// The text that the user entered.
  public let text: String
  /// Whether the note comes first when notes are listed by urgency.
  public let isUrgent: Bool
  /// The time at which the note was added.
  public let date: Date
}

/// A type that stores notes.
public protocol Notebook: Sendable {
  /// Returns the notes, in the order in which they were added.
  ///
  /// - Throws: An error if the storage can't be read.
  func notes() throws -> [Note]

  /// Replaces all notes.
  ///
  /// - Throws: An error if the storage can't be written. In this case, the stored notes are unchanged.
  func replace(with notes: [Note]) throws
}

/// A notebook in a JSON file, which is rewritten at each change.
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

/// A type that prints the output of the commands.
public protocol Console: Sendable {
  /// Prints a line of a command's output.
  func print(_ line: String)
}

/// A console that prints on the standard output.
struct StandardOutput: Console {
  func print(_ line: String) { Swift.print(line) }
}
