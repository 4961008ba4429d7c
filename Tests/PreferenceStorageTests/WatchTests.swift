#if os(Linux)
  import Foundation
  import Synchronization
  import TestSupport
  import Testing

  @testable import PreferenceStorage

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  @Suite("Watches", .timeLimit(.minutes(10))) struct WatchTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func stranger(_ file: URL) throws -> FilePreferenceStore {
      try FilePreferenceStore(path: FilePath(file.path), system: PosixFileSystem())
    }

    @Test("a folder above the file's that is moved away and made again is followed")
    func ancestorMoved() async throws {
      let manager = FileManager.default
      let above = folder.url.appending(path: "config")
      let file = above.appending(path: "app/store.preferences")
      let store = try FilePreferenceStore(url: file)
      try store.set(0, forKey: "n")
      var changes = store.changes().makeAsyncIterator()
      try stranger(file).set(1, forKey: "n")
      #expect(await changes.next() == ["n"])
      try manager.moveItem(at: above, to: folder.url.appending(path: "config.old"))
      while try store.value(Int.self, forKey: "n") != nil { #expect(await changes.next() == ["n"]) }
      try stranger(file).set(2, forKey: "n")
      while try store.value(Int.self, forKey: "n") != 2 { #expect(await changes.next() == ["n"]) }
      try stranger(file).set(3, forKey: "n")
      while try store.value(Int.self, forKey: "n") != 3 { #expect(await changes.next() == ["n"]) }
    }

    @Test("a folder that is removed and made again by another process is followed")
    func folderMadeAgain() async throws {
      let inner = folder.url.appending(path: "inner")
      let file = inner.appending(path: "store.preferences")
      let store = try FilePreferenceStore(url: file)
      try store.set(0, forKey: "n")
      var changes = store.changes().makeAsyncIterator()
      for turn in 1...10 {
        try FileManager.default.removeItem(at: inner)
        while try store.value(Int.self, forKey: "n") != nil { #expect(await changes.next() == ["n"]) }
        try stranger(file).set(turn, forKey: "n")
        while try store.value(Int.self, forKey: "n") != turn { #expect(await changes.next() == ["n"]) }
      }
    }

    @Test("a lock that another process keeps on one file holds up the notices of no other, nor of its own")
    func heldLock() async throws {
      let (a, b) = (folder.file("a"), folder.file("b"))
      let stores = try [a, b].map { try FilePreferenceStore(url: $0) }
      for store in stores { try store.set(0, forKey: "n") }
      var changes = stores.map { $0.changes().makeAsyncIterator() }
      let descriptor = open(a.path, O_RDONLY | O_CLOEXEC)
      #expect(flock(descriptor, LOCK_EX) == 0)
      try a.append("{\"n\":1}\n")
      try stranger(b).set(5, forKey: "n")
      #expect(await changes[1].next() == ["n"])
      #expect(await changes[0].next() == ["n"])
      #expect(try stores[0].value(Int.self, forKey: "n") == 1)
      close(descriptor)
    }

    @Test("writers and listeners that come and go leave no thread and no descriptor")
    func noLeak() async throws {
      await #expect(processExitsWith: .success) { [path = folder.file().path as String] in
        alarm(300)
        for _ in 0..<10 {
          let store = try FilePreferenceStore(url: URL(filePath: path))
          let isDone = Atomic(false)
          let (writers, listeners) = (DispatchGroup(), DispatchGroup())
          for writer in 0..<2 {
            writers.enter()
            Thread.detachNewThread {
              var number = 0
              while !isDone.load(ordering: .relaxed) {
                number += 1
                try! store.set(number, forKey: "k\(writer)")
              }
              writers.leave()
            }
            listeners.enter()
            Thread.detachNewThread {
              for _ in 0..<200 { _ = store.changes() }
              listeners.leave()
            }
          }
          listeners.wait()
          isDone.store(true, ordering: .relaxed)
          writers.wait()
          while try watchers() > 0 { sched_yield() }
        }
      }
    }

    @Test("a foreign set is heard at a cost that doesn't grow with the file")
    func noticeCost() async throws {
      let system = FailingFileSystem(PosixFileSystem(), failing: .max, with: .shortened, isLasting: false)
      let file = folder.file()
      let other = try stranger(file)
      try other.transaction { changes in for key in 0..<20_000 { try changes.set(key, forKey: "key\(key)") } }
      // A file that was left alone for a while is read whole, to see that it wasn't edited in place; here no time passes.
      system.stopClock(at: FilePath(file.path))
      let store = try FilePreferenceStore(path: FilePath(file.path), system: system)
      var changes = store.changes().makeAsyncIterator()
      let size = try file.contents.count
      let before = system.bytesRead
      for turn in 1...100 {
        try other.set(turn, forKey: "n")
        #expect(await changes.next() == ["n"])
      }
      #expect(try store.value(Int.self, forKey: "n") == 100)
      // The file is read whole when it is first followed, and again if that meets the first change; never for each change.
      #expect(system.bytesRead - before < 4 * size)
    }

    @Test("a reload that finds the lines that it knows parses none of them again")
    func reloadCost() throws {
      let file = folder.file()
      let store = try stranger(file)
      try store.transaction { changes in for key in 0..<20_000 { try changes.set([key, key], forKey: "key\(key)") } }
      _ = try store.compact()
      func best(_ body: () throws -> Void) throws -> Duration {
        try (0..<5).map { _ in try processorTime(of: body) }.min()!
      }
      let opening = try best { _ = try stranger(file) }
      let reloading = try best { try store.reload() }
      #expect(reloading < opening / 2)
      try stranger(file).set(1, forKey: "n")
      try store.reload()
      #expect(try store.value(Int.self, forKey: "n") == 1)
    }
  }

  /// How many threads wait for notices.
  private func watchers() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { task in
      FileManager.default.contents(atPath: "/proc/self/task/\(task)/comm") == Data("preferences\n".utf8)
    }
  }
#endif
