import Foundation
import PreferenceStorage
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Each test runs in its own process, which gives up its privileges, because mode bits don't restrict the superuser.
@Suite(
  "Without the rights", .enabled(if: getuid() == 0, "only the superuser can become someone else"), .timeLimit(.hang))
struct RightsTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }
  static let nobody: uid_t = 65_534
  static let content = "#preferences 1\n{\"a\":1}\n"

  init() throws {
    folder = try TemporaryFolder()
    try file.overwrite(RightsTests.content)
  }

  func set(_ mode: Int, _ url: URL, owner: uid_t = 0) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    #expect(chown(url.path, owner, owner) == 0)
  }

  @Test("a file that may only be read is read, and a write is an error that changes nothing")
  func readOnlyFile() async throws {
    try set(0o755, folder.url)
    try set(0o644, file)
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      insist(try store.value(Int.self, forKey: "a") == 1)
      insist(code { try store.set(2, forKey: "a") } == .unwritable)
      insist(code { try store.transaction { changes in try changes.set(2, forKey: "b") } } == .unwritable)
      insist(try store.value(Int.self, forKey: "a") == 1)
      insist(store.keys == ["a"])
      try store.reload()
      try store.synchronize()
    }
    #expect(try file.text == RightsTests.content)
  }

  @Test("a refused write doesn't take for damage what another process has half written while it has the lock")
  func halfWritten() async throws {
    try set(0o755, folder.url)
    try set(0o644, file)
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
    #expect(flock(descriptor, LOCK_EX) == 0)
    defer { close(descriptor) }
    try file.append("c9a86aae {\"vol")
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      insist(code { try store.set(2, forKey: "a") } == .unwritable)
      insist(try store.transaction { try $0.value(Int.self, forKey: "a") } == 1)
      insist(store.recovery == nil)
    }
  }

  @Test("a file that may not be read is an error, and not an empty store")
  func unreadable() async throws {
    try set(0o755, folder.url)
    try set(0o000, file)
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      insist(code { _ = try FilePreferenceStore(url: URL(filePath: path)) } == .unreadable)
    }
    #expect(try file.text == RightsTests.content)
  }

  @Test("a folder that may only be read is an empty store, and a write is an error")
  func readOnlyFolder() async throws {
    try set(0o755, folder.url)
    await #expect(processExitsWith: .success) { [path = folder.file("absent").path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      insist(store.keys.isEmpty)
      insist(code { try store.set(2, forKey: "a") } == .unwritable)
      insist(store.keys.isEmpty)
    }
    #expect(try folder.names == ["store.preferences"])
  }

  @Test("a file in a folder that may only be read is written to, and only grows")
  func noCompaction() async throws {
    try set(0o755, folder.url)
    try set(0o600, file, owner: RightsTests.nobody)
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      let store = try FilePreferenceStore(path: FilePath(path), system: FileSystem(), compactingAbove: 200)
      for turn in 0..<100 { try store.set(turn, forKey: "a") }
      insist(try store.value(Int.self, forKey: "a") == 99)
    }
    #expect(try file.text.split(separator: "\n").count == 102)
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).value(Int.self, forKey: "a") == 99)
  }

  @Test("another user's file stays that user's when it is compacted")
  func foreignOwner() async throws {
    try set(0o600, file, owner: 4321)
    try set(0o700, folder.url, owner: 4321)
    let store = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem(), compactingAbove: 200)
    for turn in 0..<100 { try store.set(turn, forKey: "a") }
    #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.ownerAccountID] as? Int == 4321)
    #expect(try file.contents.count < 400)
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).value(Int.self, forKey: "a") == 99)
  }

  @Test("a folder of another user's is refused, the superuser's is not")
  func foreignFolder() async throws {
    try set(0o755, folder.url, owner: 4321)
    try set(0o644, file)
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      insist(code { _ = try FilePreferenceStore(url: URL(filePath: path)) } == .insecureFolder)
    }
    _ = try FilePreferenceStore(url: file)
  }

  @Test("a folder that may not be watched is an error that a listener gets once, and leaves no thread")
  func unwatchable() async throws {
    try set(0o300, folder.url, owner: RightsTests.nobody)
    try set(0o600, file, owner: RightsTests.nobody)
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      let errors = store.errors
      let changes = store.changes()
      for turn in 0..<300 { try store.set(turn, forKey: "a") }
      store.report(PreferenceError(.invalidKey, "the last one"))
      var codes: [PreferenceError.Code] = []
      for await error in errors {
        codes.append(error.code)
        if error.code == .invalidKey { break }
      }
      insist(codes == [.unwatchable, .invalidKey])
      withExtendedLifetime(changes) {}
    }
  }

  @Test(
    "a folder that others can write above the file's is refused, unless it is sticky", arguments: [0o777, 0o757, 0o775])
  func writableAncestor(mode: Int) throws {
    let inner = folder.url.appending(path: "above/inner/store.preferences")
    let above = folder.url.appending(path: "above")
    try FilePreferenceStore(url: inner).set(1, forKey: "a")
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: above.path)
    #expect(chown(above.path, 0, 4321) == 0)
    let error = try #require(throws: PreferenceError.self) { try FilePreferenceStore(url: inner) }
    #expect(error.code == .insecureFolder)
    #expect(error.description.contains("chmod go-w \"\(above.path)\""))
    try FileManager.default.setAttributes([.posixPermissions: mode | 0o1000], ofItemAtPath: above.path)
    #expect(try FilePreferenceStore(url: inner).value(Int.self, forKey: "a") == 1)
  }

  @Test("a store that is open doesn't follow to a folder that another user has put in the place of its own")
  func exchangedFolder() throws {
    let inner = folder.url.appending(path: "above/inner/store.preferences")
    let above = folder.url.appending(path: "above")
    let store = try FilePreferenceStore(url: inner)
    try store.set(1, forKey: "a")
    // Another user with write access to the folder above could do this in the meantime.
    try FileManager.default.moveItem(at: inner.deletingLastPathComponent(), to: above.appending(path: "away"))
    try FileManager.default.createDirectory(at: inner.deletingLastPathComponent(), withIntermediateDirectories: false)
    try set(0o777, inner.deletingLastPathComponent(), owner: RightsTests.nobody)
    #expect(code { try store.set("secret", forKey: "a") } == .insecureFolder)
    #expect(try FileManager.default.contentsOfDirectory(atPath: inner.deletingLastPathComponent().path) == [])
  }

  @Test("a write takes from others the right to write the file, and a read doesn't", arguments: [0o666, 0o620, 0o602])
  func writableFile(mode: Int) throws {
    try set(mode, file)
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "a") == 1)
    try store.reload()
    #expect(try file.mode == mode)
    try store.set(2, forKey: "a")
    #expect(try file.mode == mode & 0o755)
  }

  @Test("a trusted folder and its file keep the rights of others, and may be another user's")
  func trustedFolder() async throws {
    for (mode, owner, fileMode) in [(0o2775, 4321, 0o664), (0o777, 0, 0o666), (0o1777, 4321, 0o666)] {
      try set(mode, folder.url, owner: uid_t(owner))
      try file.overwrite(RightsTests.content)
      try set(fileMode, file, owner: 4321)
      await #expect(processExitsWith: .success) { [path = file.path as String] in
        insist(setgid(4321) == 0 && setuid(RightsTests.nobody) == 0)
        let url = URL(filePath: path)
        insist(code { _ = try FilePreferenceStore(url: url) } == .insecureFolder)
        let store = try FilePreferenceStore(url: url, folder: .trusted)
        try store.set(2, forKey: "a")
        insist(try store.value(Int.self, forKey: "a") == 2)
      }
      #expect(try file.mode == fileMode)
    }
  }

  @Test("a store that trusts the folder and one that doesn't are two, and see each other's values")
  func bothKinds() throws {
    let trusting = try FilePreferenceStore(url: file, folder: .trusted)
    try FilePreferenceStore(url: file).set(2, forKey: "a")
    try trusting.reload()
    #expect(try trusting.value(Int.self, forKey: "a") == 2)
    try set(0o777, folder.url)
    #expect(code { _ = try FilePreferenceStore(url: file) } == .insecureFolder)
    try trusting.set(3, forKey: "a")
    #expect(try trusting.value(Int.self, forKey: "a") == 3)
  }

  @Test("a file of the superuser's that others can write is read and not written, and another user's is refused")
  func foreignFile() async throws {
    try set(0o755, folder.url, owner: RightsTests.nobody)
    try set(0o666, file)
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      insist(code { try store.set(2, forKey: "a") } == .insecureFile)
      insist(try store.value(Int.self, forKey: "a") == 1)
    }
    try set(0o644, file, owner: 4321)
    await #expect(processExitsWith: .success) { [path = file.path as String] in
      insist(setuid(RightsTests.nobody) == 0)
      insist(code { _ = try FilePreferenceStore(url: URL(filePath: path)) } == .insecureFile)
    }
    #expect(try file.text == RightsTests.content)
  }

  @Test("what the superuser makes in another user's folder is that user's")
  func ownerKept() async throws {
    try set(0o700, folder.url, owner: 4321)
    let inner = folder.url.appending(path: "new/store.preferences")
    try FilePreferenceStore(url: inner).set(1, forKey: "a")
    for path in [inner.path, inner.deletingLastPathComponent().path] {
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID] as? Int == 4321)
    }
    await #expect(processExitsWith: .success) { [path = inner.path as String] in
      insist(setuid(4321) == 0)
      try FilePreferenceStore(url: URL(filePath: path)).set(2, forKey: "a")
    }
  }
}
