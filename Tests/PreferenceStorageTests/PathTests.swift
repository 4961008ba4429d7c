import Foundation
import TestSupport
import Testing

@testable import PreferenceStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Paths and keys") struct PathTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func store(_ path: FilePath) throws -> FilePreferenceStore {
    try FilePreferenceStore(path: path, system: FileSystem())
  }

  #if os(Linux)
    @Test("two spellings of a name are two files, and two stores")
    func spellings() throws {
      let one = try FilePreferenceStore(url: folder.file("caf\u{e9}"))
      let two = try FilePreferenceStore(url: folder.file("cafe\u{301}"))
      try one.set(1, forKey: "who")
      try two.set(2, forKey: "who")
      #expect(try one.value(Int.self, forKey: "who") == 1)
      #expect(try folder.names.count == 2)
    }
  #endif

  @Test("a name may begin with a combining mark")
  func combiningMark() throws {
    let file = folder.url.appending(path: "\u{301}folder/\u{301}x.preferences")
    try FilePreferenceStore(url: file).set(1, forKey: "a")
    let names = try FileSystem().names(inFolder: FilePath(file.deletingLastPathComponent().path))
    #expect(names == ["\u{301}x.preferences"])
  }

  #if os(Linux)
    @Test("a name need not be text, nor a symbolic link's target")
    func bytes() throws {
      let name = FilePath(folder.url.path + "/").appending(FilePath(bytes: [0x66, 0xff, 0x6f]))
      try store(name).set(1, forKey: "a")
      let link = FilePath(folder.file("link").path)
      #expect(name.withCString { target in link.withCString { symlink(target, $0) } } == 0)
      #expect(try store(link).value(Int.self, forKey: "a") == 1)
      let url = try #require(URL(string: folder.url.absoluteString + "f%FFo"))
      #expect(try FilePreferenceStore(url: url).value(Int.self, forKey: "a") == 1)
      #expect(try FileSystem().names(inFolder: FilePath(folder.url.path)).count == 2)
    }

    @Test("the copy of a damaged file has a URL in a folder whose name isn't text, too")
    func copyInBytes() throws {
      let inner = FilePath(folder.url.path + "/").appending(FilePath(bytes: [0x61, 0x20, 0xff]))
      try FileSystem().makeFolder(inner)
      let file = inner.appending("store.preferences")
      try store(file).set(1, forKey: "a")
      let descriptor = try FileSystem().open(file, for: .appending)
      try FileSystem().writeAll(Array("rubbish\n".utf8), to: descriptor)
      FileSystem().close(descriptor)
      let store = try store(file)
      try store.set(2, forKey: "b")
      let copy = try FilePath(#require(store.recovery?.copy))
      #expect(copy.folder == inner)
      #expect(try FileSystem().names(inFolder: inner).contains(copy.name))
    }
  #endif

  @Test("a path is taken apart at its slashes")
  func parts() {
    let path: FilePath = "/a/\u{301}b/c"
    #expect(path.folder == "/a/\u{301}b" && path.name == "c")
    #expect(path.ancestors == ["/", "/a", "/a/\u{301}b"])
    #expect(FilePath("c").folder == "." && FilePath("/c").folder == "/")
    #expect(FilePath("/a").appending("b") == "/a/b" && FilePath("/").appending("b") == "/b")
    #expect(FilePath("/a").appending("/b") == "/b")
    #expect(!FilePath("").isValid && !FilePath(bytes: [0x61, 0, 0x62]).isValid)
  }

  @Test("equal strings are one key, in memory and in the file", arguments: [true, false])
  func canonicallyEqualKeys(inTransaction: Bool) throws {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    let store = try FilePreferenceStore(url: folder.file())
    try store.set(1, forKey: composed)
    if inTransaction {
      try store.transaction { changes in
        #expect(try changes.value(Int.self, forKey: decomposed) == 1)
        try changes.set(2, forKey: decomposed)
      }
    } else {
      try store.set(2, forKey: decomposed)
    }
    // The file has one key, even for readers that compare bytes.
    #expect(try folder.file().text.split(separator: composed).count == 3)
    #expect(try !Data(folder.file().contents).contains(Data(decomposed.utf8)))
    #expect(try self.store(FilePath(folder.file().path)).json() == store.json())
    try store.removeValue(forKey: decomposed)
    #expect(store.keys.isEmpty)
    #expect(try self.store(FilePath(folder.file().path)).keys.isEmpty)
  }

  @Test("a name of up to 255 bytes is compacted", arguments: [200, 201, 232, 255])
  func longName(length: Int) throws {
    let path = FilePath(folder.url.path).appending(FilePath(String(repeating: "n", count: length)))
    let store = try FilePreferenceStore(path: path, system: FileSystem(), compactingAbove: 500)
    for turn in 0..<200 { try store.set(turn, forKey: "a") }
    #expect(try FileSystem().status(atPath: path).size < 1000)
    #expect(try folder.names.count == 1)
  }
}

extension Data {
  fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}
