public import Foundation
import Synchronization

/// A journal of the links on disk, with a line of JSON for each change.
///
/// The first line of the text file has the version of the format. The journal isn't a database, but it loses no change
/// that it has accepted. When ``append(_:)`` returns, the operating system has the change. If ``append(_:)`` throws an
/// error, the file doesn't have the change. Only one process can have the file open. The journal can be opened again
/// after the process was killed, and on a full disk. Unreadable lines, such as after damage to the disk, are skipped,
/// and a copy of the file keeps them. Without a file, the lines are in memory.
///
/// Version 1 of the format had no owners. ``rewrite()`` adds an owner to each link of version 1.
public final class LinkJournal: Sendable {
  /// The version of the format that this program writes.
  public static let currentVersion = 2

  /// A change to the links.
  public enum Change: Codable, Sendable {
    /// A link was created.
    case added(Link)
    /// Links were followed, with the number of new visits for each code.
    case followed([String: Int])
    /// The link with this code was removed.
    case removed(String)
  }

  /// The result of ``rewrite()``.
  public struct Rewriting: Sendable {
    /// The number of links in the journal.
    public let links: Int
    /// The numbers of the lines that couldn't be read.
    public let unreadableLines: [Int]
    /// The old file, which keeps the unreadable lines, or nil if it wasn't kept.
    public let copy: URL?
    /// The error that prevented the rewrite, or nil if the file was rewritten.
    public let failure: (any Error)?
  }

  private struct Header: Codable {
    let version: Int
  }

  private struct State {
    var version: Int
    /// The lines of a journal that has no file.
    var memory = Data()
    var file: JournalFile?
    var isClosed = false
  }

  private let state: Mutex<State>

  /// Opens the journal in a file (which is created if it doesn't exist), or in memory if `url` is nil.
  ///
  /// - Throws: ``JournalError`` if the file isn't a journal, is of a later version, or is open in another process.
  public init(url: URL?) throws {
    guard let url else {
      state = Mutex(State(version: Self.currentVersion))
      return
    }
    let file = try JournalFile(url: url)
    guard let version = try Self.version(of: file) else {
      throw JournalError.notAJournal(url.path(percentEncoded: false))
    }
    guard version <= Self.currentVersion else { throw JournalError.laterVersion(version) }
    state = Mutex(State(version: version, file: file))
  }

  /// The version of the file's format.
  public var version: Int { state.withLock(\.version) }

  /// Whether changes can be appended.
  public var isOpen: Bool { state.withLock { !$0.isClosed } }

  /// Rewrites a journal that is of an earlier version, has unreadable lines, or has many more lines than links.
  ///
  /// - Returns: The result of the rewrite, or nil if no rewrite was necessary.
  /// - Throws: An error of the file system if a journal of an earlier version can't be rewritten. In this case, no
  ///   changes must be appended to it.
  public func rewrite() throws -> Rewriting? {
    try state.withLock { state in
      guard var file = state.file else { return nil }
      let contents = try Contents(file.contents(), of: state.version)
      let isFormer = state.version < Self.currentVersion
      let hasExcess = contents.lineCount > 1_000 + 2 * contents.links.count
      guard isFormer || hasExcess || !contents.unreadableLines.isEmpty else { return nil }
      let lines =
        try Self.line(Header(version: Self.currentVersion)) + contents.links.map(Change.added).map(Self.line).joined()
      var (copy, failure): (URL?, (any Error)?)
      do { copy = try file.replaceLines(with: lines, keepsFormer: !contents.unreadableLines.isEmpty) } catch {
        if isFormer { throw error }
        failure = error
      }
      state.file = file
      state.version = Self.currentVersion
      return Rewriting(
        links: contents.links.count, unreadableLines: contents.unreadableLines, copy: copy, failure: failure)
    }
  }

  /// Returns the links that result from the changes in all readable lines.
  ///
  /// - Throws: Errors of the file system.
  public func links() throws -> [Link] {
    try state.withLock { state in
      let contents = try state.file?.contents() ?? Data("header\n".utf8) + state.memory
      return Contents(contents, of: state.version).links
    }
  }

  /// Appends changes, all of which the operating system has when this method returns.
  ///
  /// - Throws: ``JournalError``, or an error of the file system, such as a full disk. In this case, no change is
  ///   appended.
  public func append(_ changes: [Change]) throws {
    let lines = try Data(changes.map(Self.line).joined())
    try state.withLock { state in
      if state.isClosed { throw JournalError.closed }
      guard let isEmpty = state.file?.isEmpty else { return state.memory += lines }
      let header = try isEmpty ? Self.line(Header(version: Self.currentVersion)) : Data()
      try state.file?.append(header + lines)
    }
  }

  /// Writes everything to the device, and closes the file.
  ///
  /// - Throws: Errors of the file system.
  public func close() throws {
    try state.withLock { state in
      state.isClosed = true
      defer { state.file = nil }
      try state.file?.close()
    }
  }
}

// MARK: Lines

extension LinkJournal {
  /// Returns the format version of a file, or nil if the file isn't a journal.
  private static func version(of file: JournalFile) throws -> Int? {
    let lines = file.lines.split(separator: newline)
    guard let first = lines.first else {
      // If the very first write was cut off, the file has only a part of the first line.
      let header = try line(Header(version: currentVersion))
      return header.starts(with: file.remainder) ? currentVersion : nil
    }
    if let header = decoded(Header.self, first) { return header.version }
    // If the first line is damaged, the lines below it may still be readable changes.
    let hasChange = lines.dropFirst().contains { change($0, of: currentVersion) != nil }
    return hasChange ? currentVersion : nil
  }

  /// The links that a journal's lines describe, and the numbers of its unreadable lines.
  private struct Contents {
    /// The links, sorted by code.
    let links: [Link]
    let unreadableLines: [Int]
    let lineCount: Int

    init(_ contents: Data, of version: Int) {
      var (links, unreadable, count): ([String: Link], [Int], Int) = ([:], [], 0)
      // The last element is empty, or an incomplete line that a crash cut off.
      for line in contents.split(separator: newline, omittingEmptySubsequences: false).dropLast() {
        count += 1
        if line.isEmpty { continue }
        if count == 1 {
          if decoded(Header.self, line) == nil { unreadable.append(count) }
          continue
        }
        switch change(line, of: version) {
        case .added(let link)?: links[link.code] = link
        case .followed(let counts)?: for (code, count) in counts { links[code]?.visits += count }
        case .removed(let code)?: links[code] = nil
        case nil: unreadable.append(count)
        }
      }
      self.links = links.values.sorted { $0.code < $1.code }
      (unreadableLines, lineCount) = (unreadable, count)
    }
  }

  /// A line in version 1 of the format, which adds a link without an owner.
  private struct FormerChange: Decodable {
    let code: String
    let url: String
    let visits: Int?
  }

  private static func change(_ line: Data, of version: Int) -> Change? {
    guard version == 1 else { return decoded(Change.self, line) }
    return decoded(FormerChange.self, line).map { former in
      var link = Link(code: former.code, url: former.url, owner: User.guest.name)
      link.visits = former.visits ?? 0
      return .added(link)
    }
  }

  private static let newline = UInt8(ascii: "\n")

  private static func line(_ value: some Encodable) throws -> Data {
    try JSONEncoder().encode(value) + [newline]
  }

  /// Returns the value in a line, or nil if the line can't be decoded.
  private static func decoded<Value: Decodable>(_ type: Value.Type, _ line: Data) -> Value? {
    do { return try JSONDecoder().decode(type, from: line) } catch { return nil }
  }
}
