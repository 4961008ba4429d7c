import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PreferenceStorage

@Suite("Synchronization", .timeLimit(.hang)) struct SynchronizationTests {
  /// A system that loses the data of a file, and reports this only to the first caller; no other file can be
  /// synchronized.
  ///
  /// `@unchecked Sendable`: `isLossy` is atomic, `lost` and `wait` are in locks, and nothing else changes.
  final class LossySystem: FileSystem, @unchecked Sendable {
    let isLossy = Atomic(false)
    private let lost = Mutex<Int32?>(nil)
    /// A function that returns once another thread has written.
    private let wait = Mutex<@Sendable () -> Void>({})

    func loseData(after wait: @escaping @Sendable () -> Void) {
      self.wait.withLock { $0 = wait }
      isLossy.store(true, ordering: .sequentiallyConsistent)
    }

    override func synchronize(_ file: Int32) throws(SystemError) {
      guard isLossy.load(ordering: .sequentiallyConsistent) else { return try super.synchronize(file) }
      let isFirst = lost.withLock { lost in
        defer { if lost == nil { lost = file } }
        return lost == nil
      }
      if isFirst { wait.withLock(\.self)() }
      if isFirst || lost.withLock({ $0 != file }) { throw SystemError("fdatasync", EIO) }
    }
  }

  /// A system that once runs a function after a folder was synchronized.
  ///
  /// `@unchecked Sendable`: `action` is in a lock, and nothing else changes.
  final class InterruptedSystem: FileSystem, @unchecked Sendable {
    private let action = Mutex<@Sendable () -> Void>({})

    func afterNextSync(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    override func synchronizeFolder(_ path: FilePath) throws(SystemError) {
      try super.synchronizeFolder(path)
      let action = action.withLock { action in
        defer { action = {} }
        return action
      }
      action()
    }
  }

  /// A system that can't synchronize a folder.
  ///
  /// `@unchecked Sendable`: The class has no state.
  final class SystemWithoutFolders: FileSystem, @unchecked Sendable {
    override func synchronizeFolder(_ path: FilePath) throws(SystemError) { throw SystemError("open", ENOENT) }
  }

  @Test("the first write to a file whose folder can't be synchronized is made, and reported as not safe yet")
  func unsynchronizedFolder() async throws {
    let folder = try TemporaryFolder()
    let store = try FilePreferenceStore(path: FilePath(folder.file().path), system: SystemWithoutFolders())
    var errors = store.errors.makeAsyncIterator()
    try store.set(1, forKey: "a")
    let error = try #require(await errors.next())
    #expect(error.code == .unwritable)
    #expect(error.description.contains("may not survive a power failure"))
    #expect(try store.value(Int.self, forKey: "a") == 1)
    #expect(throws: PreferenceError.self) { try store.synchronize() }
  }

  @Test("a failure is one for each thread whose write it may have lost, and no later success counts")
  func sharedFailure() async throws {
    let folder = try TemporaryFolder()
    let system = LossySystem()
    let store = try FilePreferenceStore(path: FilePath(folder.file().path), durability: .synced, system: system)
    try store.set(0, forKey: "first")
    system.loseData { while store.keys.count < 3 { sleep(microseconds: 100) } }
    let acknowledged = await withTaskGroup(of: Bool.self) { group in
      for number in 1...2 {
        group.addTask { await onThread { (try? store.set(number, forKey: "k\(number)")) != nil } }
      }
      return await group.reduce(into: 0) { if $1 { $0 += 1 } }
    }
    #expect(acknowledged == 0)
    #expect(throws: PreferenceError.self) { try store.synchronize() }
    system.isLossy.store(false, ordering: .sequentiallyConsistent)
    try store.synchronize()
    try store.set(3, forKey: "k3")
  }

  @Test("a write that was synchronized is no error, however long another thread's transaction takes after it")
  func longTransaction() throws {
    let folder = try TemporaryFolder()
    let path = FilePath(folder.file().path)
    try FilePreferenceStore(path: path, system: FileSystem()).set(1, forKey: "a")
    let system = InterruptedSystem()
    let store = try FilePreferenceStore(path: path, durability: .synced, system: system)
    let (inside, hasReturned, left) = (Latch(), Latch(), Latch())
    system.afterNextSync {
      startThread {
        defer { left.open() }
        try store.transaction { _ in
          inside.open()
          hasReturned.wait()
        }
      }
      inside.wait()
    }
    defer {
      hasReturned.open()
      left.wait()
    }
    try store.set(2, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("after a failure, a file that can't be replaced is never trusted again")
  func fixedFile() throws {
    let path: FilePath = "/folder/store.preferences"
    let disk = SimulatedDisk(fixing: path)
    let store = try FilePreferenceStore(path: path, durability: .synced, system: disk)
    try store.set(1, forKey: "a")
    disk.failSyncs(1)
    #expect(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.set(3, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.synchronize() }
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }
}
