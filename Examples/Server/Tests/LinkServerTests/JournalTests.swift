import Foundation
import LinkCore
import Testing

@Suite("Journal") struct JournalTests {
  let folder: Folder
  var file: URL { folder.url.appending(path: "links.journal") }

  init() throws { folder = try Folder() }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: file) }

  private func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

  private func add(_ code: String, to journal: LinkJournal) throws {
    try journal.append([.added(Link(code: code, url: "https://swift.org", owner: "ada"))])
  }

  private func codes(_ journal: LinkJournal) throws -> [String] { try journal.links().map(\.code) }

  @Test("A kill after any byte of a file loses at most the line that was being written")
  func everyLength() throws {
    let whole = try LinkJournal(url: file)
    for code in ["a", "b", "c"] { try add(code, to: whole) }
    try whole.close()
    let bytes = try Data(contentsOf: file)
    for length in 0...bytes.count {
      let part = bytes.prefix(length)
      try part.write(to: file)
      let lines = part.count { $0 == UInt8(ascii: "\n") }
      let journal = try LinkJournal(url: file)
      #expect(try journal.rewrite() == nil)
      try add("z", to: journal)
      try journal.close()
      let reopened = try LinkJournal(url: file)
      #expect(try codes(reopened) == ["a", "b", "c"].prefix(max(0, lines - 1)) + ["z"])
      try reopened.close()
    }
  }

  @Test("A file is open in one process at a time")
  func lock() throws {
    let journal = try LinkJournal(url: file)
    #expect(throws: JournalError.self) { try LinkJournal(url: file) }
    try journal.close()
    #expect(throws: Never.self) { try LinkJournal(url: file) }
  }

  @Test("A file that is removed, replaced or changed while it is open takes no more lines")
  func changed() throws {
    let changes: [(URL) throws -> Void] = [
      { try FileManager.default.removeItem(at: $0) },
      { try Data("{\"version\":2}\n".utf8).write(to: $0, options: .atomic) },
      { try Data().write(to: $0) },
    ]
    for change in changes {
      let journal = try LinkJournal(url: file)
      try add("a", to: journal)
      try change(file)
      #expect(throws: JournalError.self) { try add("b", to: journal) }
      try journal.close()
      try? FileManager.default.removeItem(at: file)
    }
  }

  @Test("A damaged first line doesn't lose the changes")
  func firstLine() throws {
    try write(
      "{\"vers\u{0}on\":2}\n{\"added\":{\"_0\":{\"code\":\"a\",\"url\":\"https://swift.org\",\"owner\":\"ada\",\"visits\":3}}}\n"
    )
    let journal = try LinkJournal(url: file)
    let rewriting = try #require(try journal.rewrite())
    #expect(rewriting.unreadableLines == [1])
    #expect(rewriting.copy != nil && rewriting.failure == nil)
    #expect(try codes(journal) == ["a"])
    #expect(try text().hasPrefix("{\"version\":2}\n"))
  }

  @Test("Each damaged file is kept beside those before it")
  func copies() throws {
    for number in 1...3 {
      try write("{\"version\":2}\ndamage \(number)\n")
      let journal = try LinkJournal(url: file)
      let copy = try #require(try journal.rewrite()?.copy)
      #expect(copy.lastPathComponent == "links.journal.damaged-\(number)")
      #expect(try String(contentsOf: copy, encoding: .utf8).contains("damage \(number)"))
      try add("a", to: journal)
      #expect(try !String(contentsOf: copy, encoding: .utf8).contains("added"))
      try journal.close()
    }
  }

  @Test("A journal with many more lines than links is rewritten, and goes on")
  func excess() throws {
    let journal = try LinkJournal(url: file)
    try add("a", to: journal)
    try journal.append(Array(repeating: .followed(["a": 2]), count: 1_100))
    let rewriting = try #require(try journal.rewrite())
    #expect(rewriting.links == 1 && rewriting.copy == nil && rewriting.failure == nil)
    try journal.append([.followed(["a": 1])])
    #expect(try journal.links().map(\.visits) == [2_201])
    #expect(try text().split(separator: "\n").count == 3)
    #expect(try journal.rewrite() == nil)
  }
}
