#if os(Linux)
  import Foundation
  import Observation
  import Support
  import Synchronization
  import TestSupport
  import Testing

  @testable import PreferenceStorage

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  @Suite("Watches", .timeLimit(.hang)) struct WatchTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func stranger(_ file: URL) throws -> FilePreferenceStore {
      try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
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

    @Test("writers and listeners that come and go leave no descriptor")
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
          while try watchDescriptors() > 0 { sched_yield() }
        }
      }
    }

    @Test("a foreign set in a large file is heard without parsing what is known")
    func noticeCost() async throws {
      let file = folder.file()
      let other = try stranger(file)
      try other.transaction { changes in for key in 0..<20_000 { try changes.set([key, key], forKey: "key\(key)") } }
      func best(_ body: () throws -> Void) throws -> Duration {
        try (0..<5).map { _ in try processorTime(of: body) }.min()!
      }
      let store = try stranger(file)
      let opening = try best { _ = try stranger(file) }
      let reloading = try best {
        try other.set(Int.random(in: 0 ... .max), forKey: "n")
        try store.reload()
      }
      #expect(reloading < opening / 2)
      #expect(try store.value(Int.self, forKey: "n") == other.value(Int.self, forKey: "n"))
    }

    @Test("a slow callback of one file delays no notice of another")
    func slowCallback() async throws {
      let (slow, quick) = (
        try FilePreferenceStore(url: folder.file("a")), try FilePreferenceStore(url: folder.file("b"))
      )
      let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let signal = try #require(slow.signal(forKey: "n"))
      withObservationTracking {
        signal.track()
      } onChange: {
        began.signal()
        mayEnd.wait()
      }
      var changes = quick.changes().makeAsyncIterator()
      try stranger(folder.file("a")).set(1, forKey: "n")
      await Task.detached { began.wait() }.value
      try stranger(folder.file("b")).set(1, forKey: "n")
      #expect(await changes.next() == ["n"])
      mayEnd.signal()
    }

    @Test("events that come while a handler is called share its next call")
    func sharedCall() throws {
      let (began, mayEnd, calls) = (Latch(), Latch(), Counter())
      let watch = FileWatch(FilePath(folder.file().path)) {
        if calls.increment() == 1 {
          began.open()
          mayEnd.wait()
        }
        return true
      }
      watch.deliver()
      began.wait()
      for _ in 0..<100 { watch.deliver() }
      mayEnd.open()
      watch.queue.sync {}
      // The watch itself may have asked for a call or two, to look at the file for the first time.
      #expect((2..<10).contains(calls.value))
      watch.cancel()
    }

    @Test("a handler that couldn't handle a removal is called again until it can")
    func removalIsRetried() async throws {
      let file = folder.file()
      try file.overwrite("")
      let (calls, source) = AsyncStream.makeStream(of: Bool.self)
      let watch = FileSystem().watch(FilePath(file.path)) {
        let exists = FileManager.default.fileExists(atPath: file.path)
        source.yield(exists)
        return exists
      }
      var iterator = calls.makeAsyncIterator()
      while await iterator.next() == false {}
      try FileManager.default.removeItem(at: file)
      for _ in 1...3 { while await iterator.next() == true {} }
      watch?.cancel()
    }

    @Test("an error that reads throw already isn't reported again")
    func sameErrorIsReportedOnce() async throws {
      let store = try FilePreferenceStore(url: folder.file())
      var errors = store.errors.makeAsyncIterator()
      let changes = store.changes()
      try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: false)
      #expect(await errors.next()?.code == .notAPreferencesFile)
      for _ in 0..<3 { #expect(store.file.catchUp(within: .seconds(1))) }
      store.report(PreferenceError(.invalidKey, "the last one"))
      #expect(await errors.next()?.code == .invalidKey)
      withExtendedLifetime(changes) {}
    }

    @Test("a file that couldn't be watched for want of descriptors is watched when there are some")
    func descriptors() async throws {
      await #expect(processExitsWith: .success) { [path = folder.file().path as String] in
        alarm(300)
        let store = try FilePreferenceStore(url: URL(filePath: path))
        try store.set(0, forKey: "n")
        var errors = store.errors.makeAsyncIterator()
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let old = limit
        limit.rlim_cur = 3
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var changes = store.changes().makeAsyncIterator()
        limit = old
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        insist(await errors.next()?.code == .unwatchable)
        try FilePreferenceStore(path: FilePath(path), system: FileSystem()).set(1, forKey: "n")
        insist(await changes.next() == ["n"])
      }
    }
  }
#endif
