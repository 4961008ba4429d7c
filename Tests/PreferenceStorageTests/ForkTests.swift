#if os(Linux)
  import Foundation
  import PreferenceStorage
  import TestSupport
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Each test runs in its own process, whose forked children never return to the tests.
  @Suite("A forked child", .timeLimit(.hang)) struct ForkTests {
    let folder: TemporaryFolder
    var path: String { folder.file().path }

    init() throws { folder = try TemporaryFolder() }

    @Test("that leaves its parent's transaction leaves the lock and the change to the parent")
    func leavesTransaction() async throws {
      await #expect(processExitsWith: .success) { [path = path as String] in
        alarm(300)
        let store = try FilePreferenceStore(url: URL(filePath: path))
        try store.set(0, forKey: "n")
        var child: pid_t = 0
        do {
          try store.transaction { changes in
            child = forkWhileOthersSleep()
            try changes.set(1, forKey: "n")
            if child == 0 { return }
            insist(ended(child) == 0)
            // The parent still holds the lock.
            let other = open(path, O_RDONLY)
            insist(flock(other, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            close(other)
          }
          if child == 0 { _exit(1) }
        } catch {
          // The child's write throws, but the child can open the file again.
          guard child == 0, (error as? PreferenceError)?.code == .forked else { _exit(2) }
          let own = try FilePreferenceStore(url: URL(filePath: path))
          _exit(try own.value(Int.self, forKey: "n") == 0 ? 0 : 3)
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        insist(lines.count == 3)
      }
    }

    @Test(
      "throws forked for its parent's store, and opens it again though another thread of its parent was in a transaction"
    )
    func otherThread() async throws {
      await #expect(processExitsWith: .success) { [path = path as String] in
        alarm(300)
        let store = try FilePreferenceStore(url: URL(filePath: path), lockWaitLimit: .seconds(40))
        try store.set(0, forKey: "n")
        let (inside, forked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          try! store.transaction { changes in
            inside.signal()
            forked.wait()
            try changes.set(1, forKey: "n")
          }
          done.signal()
        }
        inside.wait()
        let childHasRead = Pipe()
        let child = forkWhileOthersSleep()
        if child == 0 {
          insist(code { _ = try store.value(Int.self, forKey: "n") } == .forked)
          insist(code { try store.set(2, forKey: "m") } == .forked)
          insist(store.keys.isEmpty && store.json() == "{}\n" && store.recovery == nil)
          let own = try FilePreferenceStore(url: URL(filePath: path), lockWaitLimit: .seconds(40))
          guard try own.value(Int.self, forKey: "n") == 0 else { _exit(1) }
          try childHasRead.fileHandleForWriting.close()
          do { try own.set(2, forKey: "m") } catch { _exit(2) }
          _exit(try own.value(Int.self, forKey: "n") == 1 ? 0 : 3)
        }
        try childHasRead.fileHandleForWriting.close()
        _ = try childHasRead.fileHandleForReading.readToEnd()
        forked.signal()
        done.wait()
        insist(ended(child) == 0)
        try store.reload()
        insist(try store.value(Int.self, forKey: "m") == 2)
      }
    }

    @Test("that does nothing doesn't keep the lock of a parent that was killed")
    func idleChild() async throws {
      let lines = folder.file("child")
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, lines = lines.path as String] in
        let foreign = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        try FilePreferenceStore(url: URL(filePath: path)).transaction { _ in
          let child = forkWhileOthersSleep()
          if child == 0 {
            // These are the test's pipes; the test waits until this process closes them.
            for descriptor in foreign { close(descriptor) }
            while true { pause() }
          }
          try String(child).write(toFile: lines, atomically: true, encoding: .utf8)
          kill(getpid(), SIGKILL)
        }
      }
      let child = try #require(Int32(lines.text))
      defer { kill(child, SIGKILL) }
      let store = try FilePreferenceStore(url: folder.file(), lockWaitLimit: .zero)
      try store.set(1, forKey: "n")
      #expect(kill(child, 0) == 0)
    }

    @Test("that lets go of a listener leaves the parent's watch alone", arguments: [true, false])
    func listener(isInherited: Bool) async throws {
      await #expect(processExitsWith: .success) { [path = path as String, isInherited = isInherited as Bool] in
        alarm(300)
        let store = try FilePreferenceStore(url: URL(filePath: path))
        try store.set(0, forKey: "n")
        var changes: PreferenceChanges? = store.changes()
        let child = forkWhileOthersSleep()
        if child == 0 {
          if !isInherited { _ = store.changes() }
          changes = nil
          _exit(0)
        }
        insist(ended(child) == 0)
        var iterator = changes!.makeAsyncIterator()
        try FilePreferenceStore(path: FilePath(path), system: FileSystem()).set(2, forKey: "n")
        insist(await iterator.next() == ["n"])
      }
    }

    @Test("that listens has no watch, whose thread the language's locks don't allow, and hears what it reads itself")
    func listensItself() async throws {
      await #expect(processExitsWith: .success) { [path = path as String] in
        alarm(300)
        let store = try FilePreferenceStore(url: URL(filePath: path))
        try store.set(0, forKey: "n")
        let changes = store.changes()
        let child = forkWhileOthersSleep()
        if child == 0 {
          _ = store.changes()
          let own = try FilePreferenceStore(url: URL(filePath: path))
          let errors = own.errors
          let ownChanges = own.changes()
          try FilePreferenceStore(path: FilePath(path), system: FileSystem()).set(2, forKey: "n")
          try own.reload()
          let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
          withExtendedLifetime((errors, ownChanges)) {}
          _exit(try own.value(Int.self, forKey: "n") == 2 && threads.count == 1 ? 0 : 1)
        }
        insist(ended(child) == 0)
        withExtendedLifetime(changes) {}
      }
    }
  }
#endif
