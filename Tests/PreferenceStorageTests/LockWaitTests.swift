import Foundation
import PreferenceStorage
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tests in which another process or another thread holds the lock.
@Suite("Waiting for the lock", .timeLimit(.hang)) struct LockWaitTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  /// Takes the file's lock through a separate descriptor, as another process would.
  func holdLock(_ body: () throws -> Void) throws {
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
    #expect(flock(descriptor, LOCK_EX) == 0)
    defer { close(descriptor) }
    try body()
  }

  @Test("a write throws busy when the limit is reached, and changes nothing")
  func busy() throws {
    let store = try FilePreferenceStore(url: file, lockWaitLimit: .milliseconds(50))
    try store.set(1, forKey: "a")
    let text = try file.text
    try holdLock {
      let error = try #require(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
      #expect(error.code == .busy)
      #expect(error.description.contains(file.path))
      #expect(throws: PreferenceError.self) { try store.transaction { changes in try changes.set(3, forKey: "b") } }
      #expect(try store.value(Int.self, forKey: "a") == 1)
      #expect(try file.text == text)
    }
    try store.set(2, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("opening, reloading and synchronizing wait for no lock")
  func reading() throws {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).set(1, forKey: "a")
    try holdLock {
      let store = try FilePreferenceStore(url: file)
      #expect(try store.value(Int.self, forKey: "a") == 1)
      try file.append("{\"b\":2}\n")
      try store.reload()
      #expect(store.keys == ["a", "b"])
      try store.synchronize()
    }
  }

  @Test("what another process has half written while it has the lock isn't taken for damage")
  func halfWritten() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    try holdLock {
      try file.append("c9a86aae {\"vol")
      try store.reload()
      #expect(store.recovery == nil)
      try file.append("ume\":7}\n")
    }
    try store.set(2, forKey: "b")
    #expect(store.recovery == nil)
    #expect(store.keys == ["a", "volume", "b"])
    #expect(try folder.names == [file.lastPathComponent])
  }

  #if os(Linux)
    @Test("a process that is stopped in a transaction keeps out writers, and no reader")
    func stoppedHolder() async throws {
      await #expect(processExitsWith: .success) { [path = file.path as String] in
        alarm(300)
        let store = try FilePreferenceStore(url: URL(filePath: path), lockWaitLimit: .milliseconds(100))
        try store.set(1, forKey: "a")
        let child = forkWhileOthersSleep()
        insist(child >= 0)
        if child == 0 {
          let own = try FilePreferenceStore(path: FilePath(path), system: FileSystem())
          try own.transaction { _ in _ = kill(getpid(), SIGSTOP) }
          _exit(0)
        }
        var status: Int32 = 0
        insist(waitpid(child, &status, WUNTRACED) == child)
        do throws(PreferenceError) {
          try store.set(2, forKey: "a")
          insist(false)
        } catch {
          insist(error.code == .busy)
        }
        let other = try FilePreferenceStore(path: FilePath(path), system: FileSystem())
        insist(try other.value(Int.self, forKey: "a") == 1)
        kill(child, SIGKILL)
        insist(waitpid(child, &status, 0) == child)
        try store.set(3, forKey: "a")
      }
    }
  #endif

  @Test("the writes after one that has waited in vain wait for a shorter time, until the lock was free")
  func waitsOnce() throws {
    let system = FailingFileSystem(FileSystem(), failing: .max, with: .error(EIO), isLasting: false)
    let store = try FilePreferenceStore(path: FilePath(file.path), lockWaitLimit: .seconds(1), system: system)
    try store.set(1, forKey: "a")
    try holdLock {
      /// Waits in vain, and returns how often the store called the system meanwhile.
      func callsOfWait() -> Int {
        let before = system.callCount
        #expect(code { try store.set(2, forKey: "a") } == .busy)
        return system.callCount - before
      }
      // A wait of a second asks for the lock about five times as often as one of 50 milliseconds.
      let calls = callsOfWait()
      for _ in 0..<5 { #expect(callsOfWait() < calls / 2) }
    }
    try store.set(2, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("a wait in vain doesn't shorten the waits of a store with a longer limit, and the error states how long it was")
  func twoLimits() throws {
    let limit = Duration.milliseconds(200)
    let impatient = try FilePreferenceStore(url: file, lockWaitLimit: .zero)
    let patient = try FilePreferenceStore(url: file, lockWaitLimit: limit)
    try patient.set(1, forKey: "a")
    func expectRefusal(by store: FilePreferenceStore, after wait: Duration) throws {
      let error = try #require(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
      #expect(error.code == .busy && error.description.contains("\(wait)"))
    }
    try holdLock {
      try expectRefusal(by: impatient, after: .zero)
      let start = ContinuousClock.now
      try expectRefusal(by: patient, after: limit)
      #expect(.now - start >= limit)
      try expectRefusal(by: impatient, after: .zero)
      try expectRefusal(by: patient, after: .milliseconds(50))
    }
  }

  @Test("transactions on two stores in opposite order are an error after the limit, and no deadlock")
  func oppositeOrder() throws {
    func store(_ name: String) throws -> FilePreferenceStore {
      try FilePreferenceStore(url: folder.file(name), lockWaitLimit: .milliseconds(100))
    }
    let (a, b) = (try store("a"), try store("b"))
    let inside = Atomic(0)
    let codes = Mutex<[PreferenceError.Code]>([])
    let threads = DispatchGroup()
    for (first, second) in [(a, b), (b, a)] {
      threads.enter()
      Thread.detachNewThread {
        defer { threads.leave() }
        do {
          try first.transaction { _ in
            inside.add(1, ordering: .relaxed)
            while inside.load(ordering: .relaxed) < 2 { sched_yield() }
            try second.set(1, forKey: "nested")
          }
        } catch {
          codes.withLock { $0.append((error as! PreferenceError).code) }
        }
      }
    }
    threads.wait()
    let found = codes.withLock { $0 }
    #expect(!found.isEmpty && found.allSatisfy { $0 == .busy })
  }

  @Test("a write of another thread throws busy while a transaction goes on for too long")
  func longTransaction() throws {
    let store = try FilePreferenceStore(url: file, lockWaitLimit: .milliseconds(50))
    try store.transaction { changes in
      let code = Mutex<PreferenceError.Code?>(nil)
      let done = DispatchGroup()
      done.enter()
      Thread.detachNewThread {
        do throws(PreferenceError) { try store.set(1, forKey: "a") } catch { code.withLock { $0 = error.code } }
        done.leave()
      }
      done.wait()
      #expect(code.withLock { $0 } == .busy)
      #expect(store.keys.isEmpty)
      try changes.set(2, forKey: "a")
    }
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test(
    "a write is made between two transactions of another thread or process, however short the pause between them",
    arguments: [false, true])
  func noStarvation(byProcess: Bool) throws {
    let store = try FilePreferenceStore(url: file)
    // A store that shares nothing with this store takes the file's lock like another process.
    let other = byProcess ? try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()) : store
    let isDone = Atomic(false)
    let (inside, left) = (Latch(), Latch())
    startThread {
      defer { left.open() }
      while !isDone.load(ordering: .relaxed) {
        try other.transaction { _ in
          inside.open()
          // How long the transaction takes; nothing is waited for.
          usleep(5000)
        }
      }
    }
    defer {
      isDone.store(true, ordering: .relaxed)
      left.wait()
    }
    inside.wait()
    for number in 0..<20 { try store.set(number, forKey: "a") }
    #expect(try store.value(Int.self, forKey: "a") == 19)
  }

  @Test("a write is made beside another thread's, which wait for another process without a pause")
  func noStarvationByWaits() throws {
    let store = try FilePreferenceStore(url: file)
    let other = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    let isDone = Atomic(false)
    let threads = [store, other].enumerated().map { index, busy in
      let left = Latch()
      startThread {
        defer { left.open() }
        var number = 0
        while !isDone.load(ordering: .relaxed) {
          number += 1
          try busy.set(number, forKey: "busy \(index)")
        }
      }
      return left
    }
    defer {
      isDone.store(true, ordering: .relaxed)
      for thread in threads { thread.wait() }
    }
    for number in 0..<20 { try store.set(number, forKey: "a") }
    #expect(try store.value(Int.self, forKey: "a") == 19)
  }

  @Test("a limit of zero doesn't wait, and a free lock is taken")
  func zeroLimit() throws {
    let store = try FilePreferenceStore(url: file, lockWaitLimit: .zero)
    for number in 0..<100 { try store.set(number, forKey: "a") }
    try holdLock { #expect(code { try store.set(1, forKey: "b") } == .busy) }
    try store.set(1, forKey: "b")
    #expect(store.keys == ["a", "b"])
  }

  @Test("a file with two names stays one: it isn't compacted")
  func hardLink() throws {
    func store(_ name: String) throws -> FilePreferenceStore {
      try FilePreferenceStore(path: FilePath(folder.file(name).path), system: FileSystem(), compactingAbove: 200)
    }
    let a = try store("a")
    try a.set(1, forKey: "x")
    try FileManager.default.linkItem(at: folder.file("a"), to: folder.file("b"))
    let b = try store("b")
    for turn in 0..<100 { try a.set(turn, forKey: "y") }
    try b.set(3, forKey: "x")
    try a.reload()
    #expect(try a.value(Int.self, forKey: "x") == 3)
    #expect(try store("b").json() == store("a").json())
  }
}
