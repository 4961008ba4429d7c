import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Symbolic links", .timeLimit(.hang)) struct SymbolicLinkTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }
  var target: URL { folder.url.appending(path: "real/target.preferences") }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: target.deletingLastPathComponent(), withIntermediateDirectories: false)
  }

  func isLink() throws -> Bool {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    return attributes[.type] as? FileAttributeType == .typeSymbolicLink
  }

  @Test("a link is followed, and survives compaction", arguments: [true, false])
  func link(leadsSomewhere: Bool) throws {
    if leadsSomewhere { try target.overwrite("#preferences 1\n{\"a\":1}\n") }
    try FileManager.default.createSymbolicLink(
      atPath: file.path, withDestinationPath: "real/target.preferences")
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "a") == (leadsSomewhere ? 1 : nil))
    let large = String(repeating: "x", count: 100_000)
    for turn in 0..<8 { try store.set("\(turn)\(large)", forKey: "b") }
    #expect(try isLink())
    #expect(try target.contents.count < 500_000)
    #expect(try FilePreferenceStore(url: target).keys == (leadsSomewhere ? ["a", "b"] : ["b"]))
  }

  @Test(
    "stores share the file though its folder is missing when they are opened",
    arguments: ["link/app/store.preferences", "chain/app/store.preferences", "direct.preferences"])
  func missingFolder(path: String) throws {
    let links = ["link": "real", "chain": "./link/../link", "direct.preferences": "real/app/store.preferences"]
    for (name, target) in links {
      try FileManager.default.createSymbolicLink(atPath: folder.file(name).path, withDestinationPath: target)
    }
    let first = try FilePreferenceStore(url: folder.file(path))
    let second = try FilePreferenceStore(url: folder.file(path))
    try first.set(0, forKey: "a")
    let third = try FilePreferenceStore(url: folder.file("real/app/store.preferences"))
    for number in 1...100 {
      try first.set(number, forKey: "a")
      #expect(try second.value(Int.self, forKey: "a") == number)
      try third.reload()
      #expect(try third.value(Int.self, forKey: "a") == number)
    }
  }

  @Test("a folder that is a link to nowhere, or below one, can't be made, which is an error", arguments: ["", "/a/b"])
  func folderThatLeadsNowhere(below: String) throws {
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "not mounted")
    let error = try #require(throws: PreferenceError.self) {
      try FilePreferenceStore(url: URL(filePath: link.path + below + "/settings")).set(1, forKey: "a")
    }
    #expect(error.path?.hasPrefix(link.path) == true)
    if below.isEmpty { #expect(error.description.contains("a symbolic link that leads nowhere")) }
  }

  @Test("a folder that the system doesn't let anybody make is an error")
  func folderThatCannotBeMade() throws {
    #if os(Linux)
      #expect(throws: PreferenceError.self) {
        try FilePreferenceStore(url: URL(filePath: "/proc/none/settings")).set(1, forKey: "a")
      }
    #endif
  }

  @Test(
    "a link that is led elsewhere is followed by reload(), a write, and a store that follows others", arguments: 0..<3)
  func ledElsewhere(way: Int) async throws {
    try target.overwrite("#preferences 1\n{\"a\":1}\n")
    try folder.write("#preferences 1\n{\"a\":2}\n", to: "real/elsewhere")
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "real/target.preferences")
    let store = try FilePreferenceStore(url: file, followsOthers: way == 2)
    for _ in 0..<2 { #expect(try store.value(Int.self, forKey: "a") == 1) }
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "real/elsewhere")
    switch way {
    case 0: try store.reload()
    case 1: try store.set(3, forKey: "b")
    default: while try store.value(Int.self, forKey: "a") != 2 { try await Task.sleep(for: .milliseconds(1)) }
    }
    #expect(try store.value(Int.self, forKey: "a") == 2)
    try store.set(4, forKey: "c")
    #expect(try target.text == "#preferences 1\n{\"a\":1}\n")
  }

  @Test("a link on the way to the folder is followed, as container platforms switch a mounted folder")
  func folderLedElsewhere() async throws {
    for release in 1...2 {
      try folder.write("#preferences 1\n{\"a\":\(release)}\n", to: "..data-\(release)/store.preferences")
    }
    let (data, new) = (folder.file("..data"), folder.file("..data.new"))
    try FileManager.default.createSymbolicLink(atPath: data.path, withDestinationPath: "..data-1")
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "..data/store.preferences")
    let store = try FilePreferenceStore(url: file)
    var changes = store.changes().makeAsyncIterator()
    #expect(try store.value(Int.self, forKey: "a") == 1)
    try FileManager.default.createSymbolicLink(atPath: new.path, withDestinationPath: "..data-2")
    try FileSystem().rename(FilePath(new.path), to: FilePath(data.path))
    #expect(await changes.next() == ["a"])
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("a store through a link and one on its target are like stores of two processes")
  func twoPaths() throws {
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: target.path)
    let one = try FilePreferenceStore(url: file)
    let two = try FilePreferenceStore(url: target)
    for number in 1...100 {
      try one.set(number, forKey: "a")
      #expect(try two.transaction { try $0.value(Int.self, forKey: "a") } == number)
    }
  }
}
