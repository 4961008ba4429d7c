import Foundation
import Synchronization
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

/// A file system on which no file can be opened while the process is at its limit of descriptors.
///
/// `@unchecked Sendable`: The only state is an atomic.
private final class LimitedFileSystem: FileSystem, @unchecked Sendable {
  let isAtLimit = Atomic(false)

  override func open(_ path: FilePath, for access: FileAccess) throws(SystemError) -> Int32 {
    if isAtLimit.load(ordering: .relaxed) { throw SystemError("open", EMFILE) }
    return try super.open(path, for: access)
  }
}

@Suite("A process without a free descriptor", .timeLimit(.hang)) struct DescriptorLimitTests {
  let folder: TemporaryFolder
  private let system = LimitedFileSystem()

  init() throws { folder = try TemporaryFolder() }

  func store(followsOthers: Bool = false) throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(folder.file().path), followsOthers: followsOthers, system: system)
  }

  /// Puts another file in the place of the file, which the store then has to open.
  func replace() throws {
    try Data("#preferences 1\n{\"a\":2}\n".utf8).write(to: folder.file(), options: .atomic)
  }

  @Test("reads what was last read, and writes nothing, until it can open the file")
  func kept() throws {
    let store = try store()
    try store.set(1, forKey: "a")
    try replace()
    system.isAtLimit.store(true, ordering: .relaxed)
    #expect(code { try store.reload() } == .unreadable)
    #expect(try store.value(Int.self, forKey: "a") == 1)
    #expect(store.keys == ["a"])
    #expect(code { try store.set(3, forKey: "a") } == .unwritable)
    #expect(try store.value(Int.self, forKey: "a") == 1)
    system.isAtLimit.store(false, ordering: .relaxed)
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("follows the file as soon as it can open it, without another change")
  func followed() async throws {
    let store = try store(followsOthers: true)
    try store.set(1, forKey: "a")
    var errors = store.errors.makeAsyncIterator()
    var changes = store.changes().makeAsyncIterator()
    system.isAtLimit.store(true, ordering: .relaxed)
    try replace()
    #expect(await errors.next()?.code == .unreadable)
    #expect(try store.value(Int.self, forKey: "a") == 1)
    system.isAtLimit.store(false, ordering: .relaxed)
    #expect(await changes.next() == ["a"])
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }
}
