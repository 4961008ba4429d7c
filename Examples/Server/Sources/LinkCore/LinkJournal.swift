public import Foundation
import Synchronization

/// The links on disk: a text file with a line of JSON for each change, the first of which is the version of its format.
///
/// It is small and honest, not a database: one process writes it, a change is with the system when ``append(_:)`` returns,
/// and a line that a crash has cut off is dropped. Without a file, it keeps the lines in memory.
///
/// Version 1 had no owners; ``migrate()`` adds them.
public final class LinkJournal: Sendable {
  /// The version of the format that this program writes.
  public static let currentVersion = 2

  /// A change of the links.
  public enum Change: Codable, Sendable {
    /// A link was created.
    case added(Link)
    /// Links were followed: how often, by code.
    case followed([String: Int])
    /// The link of a code was removed.
    case removed(String)
  }

  private struct Header: Codable {
    let version: Int
  }

  private struct State {
    var version: Int
    /// The changes, if there is no file.
    var memory = Data()
    var file: FileHandle?
    var isClosed = false
  }

  private let url: URL?
  private let state: Mutex<State>

  /// Opens the journal of a file, which is created if it doesn't exist; without a file, one in memory.
  ///
  /// - Throws: ``JournalError`` if the file isn't a journal or is of a later version, and errors of the file system.
  public init(url: URL?) throws {
    self.url = url
    guard let url else {
      state = Mutex(State(version: Self.currentVersion))
      return
    }
    if !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) {
      try Self.line(Header(version: Self.currentVersion)).write(to: url, options: .withoutOverwriting)
    }
    let contents = try Data(contentsOf: url)
    let lines = Self.lines(contents)
    guard let first = lines.first, let header = Self.decoded(Header.self, first) else {
      throw JournalError.notAJournal(url.path(percentEncoded: false))
    }
    guard header.version <= Self.currentVersion else { throw JournalError.laterVersion(header.version) }
    let file = try FileHandle(forUpdating: url)
    // What follows the last newline was cut off by a crash.
    let end = contents.lastIndex(of: UInt8(ascii: "\n")) ?? contents.startIndex
    try file.truncate(atOffset: UInt64(end + 1))
    try file.seekToEnd()
    state = Mutex(State(version: header.version, file: file))
  }

  /// The version of the file's format.
  public var version: Int { state.withLock(\.version) }

  /// Whether changes can be appended.
  public var isOpen: Bool { state.withLock { !$0.isClosed } }

  /// Rewrites a journal of an earlier version, with one line for each link.
  ///
  /// - Returns: The number of links that were rewritten; nil if the journal has the current version.
  /// - Throws: ``JournalError`` if a line can't be read, and errors of the file system.
  public func migrate() throws -> Int? {
    try state.withLock { state in
      guard state.version < Self.currentVersion, let url else { return nil }
      let links = try Self.links(Data(contentsOf: url), of: state.version)
      let lines = try [Self.line(Header(version: Self.currentVersion))] + links.map { try Self.line(Change.added($0)) }
      try Data(lines.joined()).write(to: url, options: .atomic)
      try state.file?.close()
      let file = try FileHandle(forUpdating: url)
      try file.seekToEnd()
      state = State(version: Self.currentVersion, file: file)
      return links.count
    }
  }

  /// Returns the links that the changes amount to.
  ///
  /// - Throws: ``JournalError`` if a line can't be read, and errors of the file system.
  public func links() throws -> [Link] {
    try state.withLock { state in
      guard let url else { return try Self.links(Data("header\n".utf8) + state.memory, of: state.version) }
      return try Self.links(Data(contentsOf: url), of: state.version)
    }
  }

  /// Appends changes, which the system has when this returns.
  ///
  /// - Throws: ``JournalError/closed``, and errors of the file system.
  public func append(_ changes: [Change]) throws {
    let lines = try Data(changes.map { try Self.line($0) }.joined())
    try state.withLock { state in
      if state.isClosed { throw JournalError.closed }
      if let file = state.file { try file.write(contentsOf: lines) } else { state.memory += lines }
    }
  }

  /// Writes everything to the device, and closes the file.
  ///
  /// - Throws: Errors of the file system.
  public func close() throws {
    try state.withLock { state in
      state.isClosed = true
      try state.file?.synchronize()
      try state.file?.close()
      state.file = nil
    }
  }
}

/// A reason why a journal can't be used.
public enum JournalError: Error, CustomStringConvertible {
  /// The file is something else.
  case notAJournal(String)
  /// A later version of the program has written the file.
  case laterVersion(Int)
  /// A line isn't a change.
  case unreadableLine(Int)
  /// The journal was closed.
  case closed

  /// A sentence on what happened, and one on what to do.
  public var description: String {
    switch self {
    case .notAJournal(let path): "\(path) isn't a journal of links. Choose another file."
    case .laterVersion(let version): "The journal has version \(version). Update the program."
    case .unreadableLine(let number):
      "Line \(number) of the journal can't be read. Restore the file, or remove the line."
    case .closed: "The journal was closed."
    }
  }
}

// MARK: Lines

extension LinkJournal {
  /// A link of version 1.
  private struct FormerChange: Decodable {
    let code: String
    let url: String
    let visits: Int?
  }

  /// The links of a journal's contents, whose first line is the header.
  private static func links(_ contents: Data, of version: Int) throws -> [Link] {
    var links: [String: Link] = [:]
    for (index, line) in lines(contents).enumerated().dropFirst() {
      guard let change = change(line, of: version) else { throw JournalError.unreadableLine(index + 1) }
      switch change {
      case .added(let link): links[link.code] = link
      case .followed(let counts): for (code, count) in counts { links[code]?.visits += count }
      case .removed(let code): links[code] = nil
      }
    }
    return links.values.sorted { $0.code < $1.code }
  }

  private static func change(_ line: Data, of version: Int) -> Change? {
    guard version == 1 else { return decoded(Change.self, line) }
    return decoded(FormerChange.self, line).map { former in
      var link = Link(code: former.code, url: former.url, owner: User.guest.name)
      link.visits = former.visits ?? 0
      return .added(link)
    }
  }

  private static func lines(_ contents: Data) -> [Data] {
    guard let end = contents.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    return contents[..<end].split(separator: UInt8(ascii: "\n")).map { Data($0) }
  }

  private static func line(_ value: some Encodable) throws -> Data {
    try JSONEncoder().encode(value) + Data("\n".utf8)
  }

  /// The value of a line; nil if it isn't one.
  private static func decoded<Value: Decodable>(_ type: Value.Type, _ line: Data) -> Value? {
    do { return try JSONDecoder().decode(type, from: line) } catch { return nil }
  }
}
