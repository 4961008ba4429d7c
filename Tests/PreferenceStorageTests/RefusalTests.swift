import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("What is refused", .timeLimit(.hang)) struct RefusalTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  func refusal(of url: URL) throws -> PreferenceError {
    try #require(throws: PreferenceError.self) { try FilePreferenceStore(url: url) }
  }

  @Test(
    "a file of another program is refused and left as it is",
    arguments: [
      "hello, world\n", "{\n  \"a\": 1\n}\n", "[1]\n", "{\"a\":1}\nx\n", "#preferences\n{\"a\":1}\n",
      "#preferences x\n", "\u{0}\u{0}x", "\n",
    ])
  func foreign(text: String) throws {
    try file.overwrite(text)
    let error = try refusal(of: file)
    #expect(error.code == .notAPreferencesFile)
    #expect(error.description.contains(file.path))
    #expect(try file.text == text)
    #expect(try folder.names == [file.lastPathComponent])
  }

  @Test(
    "a file of a later version is refused, and the message says so",
    arguments: [
      "2 253eff8f\nc9a86aae {\"volume\":7}\n", "10 a2d42cac\r\n{}\n", "999 8d14b69b\n", "2\n", "2 x\n{\"volume\":7}\n",
      "10\nother\n",
    ])
  func laterVersion(rest: String) throws {
    let text = "#preferences \(rest)"
    try file.overwrite(text)
    let error = try refusal(of: file)
    #expect(error.code == .laterVersion)
    #expect(error.description.contains("version \(rest.prefix { $0.isNumber })"))
    #expect(try file.text == text)
    #expect(try folder.names == [file.lastPathComponent])
  }

  @Test(
    "another version without its checksum is damage in a file of this version, which is copied aside",
    arguments: [
      "#preferences 2\nc9a86aae {\"volume\":7}\n", "#preferences 999 x\nc9a86aae {\"volume\":7}\n",
      "#preferences 2 253eff8e\nc9a86aae {\"volume\":7}\n", "#preferences 3\n{\"volume\":7}\n",
      "#Preferences 1\n{\"volume\":7}\n",
    ])
  func damagedVersion(text: String) throws {
    try file.overwrite(text)
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "volume") == 7)
    #expect(store.recovery?.headerWasDamaged == true)
    try store.set(1, forKey: "a")
    #expect(try #require(store.recovery?.copy).text == text)
    #expect(try file.text == "#preferences 1\nc9a86aae {\"volume\":7}\n561bacaf {\"a\":1}\n")
  }

  @Test("a folder in the file's place is refused")
  func folderInPlace() throws {
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(try refusal(of: file).code == .notAPreferencesFile)
  }

  @Test("a folder that takes a file's place is refused by a read as by a reload, and a file is read again")
  func folderAfterFile() async throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    try FileManager.default.removeItem(at: file)
    try store.reload()
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    for _ in 0..<2 {
      #expect(throws: PreferenceError.self) { try store.reload() }
      let error = #expect(throws: PreferenceError.self) { try store.value(Int.self, forKey: "a") }
      #expect(error?.code == .notAPreferencesFile)
    }
    try FileManager.default.removeItem(at: file)
    try file.overwrite("#preferences 1\n{\"a\":2}\n")
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("a device and a FIFO are refused without being opened")
  func devices() throws {
    #expect(try refusal(of: URL(filePath: "/dev/full")).code == .notAPreferencesFile)
    #expect(try refusal(of: URL(filePath: "/dev/zero")).code == .notAPreferencesFile)
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", "mkfifo \"$1\"", "-", file.path]
    try shell.run()
    shell.waitUntilExit()
    #expect(try refusal(of: file).code == .notAPreferencesFile)
  }

  @Test("a folder that others can write is refused", arguments: [0o777, 0o702, 0o1777])
  func insecureFolder(mode: Int) throws {
    let inner = folder.url.appending(path: "inner")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: inner.path)
    let error = try refusal(of: inner.appending(path: "a.preferences"))
    #expect(error.code == .insecureFolder)
    #expect(error.description.contains(mode == 0o1777 ? "choose a folder of your own in it" : "chmod go-w"))
  }

  @Test("a file where a folder should be is an error that says where")
  func fileAsFolder() throws {
    try file.overwrite("#preferences 1\n")
    let error = try refusal(of: file.appending(path: "a.preferences"))
    #expect(error.code == .unreadable)
    #expect(error.description.contains(file.path))
  }

  @Test("links that lead in a circle are an error")
  func circle() throws {
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "other")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("other").path, withDestinationPath: file.lastPathComponent)
    #expect(try refusal(of: file).code == .unreadable)
  }
}
