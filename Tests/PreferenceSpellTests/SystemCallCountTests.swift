#if os(Linux)
  import Foundation
  import PreferenceSpell
  import TestSupport
  import Testing

  /// The system calls that pages and comments name as the cost of an operation, counted by `strace`.
  @Suite("The system calls of a store in a file", .timeLimit(.hang)) struct SystemCallCountTests {
    @Test(
      "are four for an assignment, and those that the pages name for the others",
      .enabled(if: Strace.works, "it takes strace, the right to trace, and a build without a sanitizer"))
    func counts() throws {
      let folder = try TemporaryFolder()
      let calls = try Trace.calls(of: "CountedOperations", inFolder: folder.path(of: ""), log: folder.path(of: "log"))
      #expect(calls["assignment"] == ["flock", "statx", "write", "flock"])
      #expect(calls["set"] == ["flock", "statx", "write", "flock"])
      #expect(calls["synced set"] == ["flock", "statx", "write", "flock", "fdatasync"])
      #expect(calls["equal set"] == ["flock", "statx", "pread64", "flock"])
      // A transaction that takes long, as it does under `strace`, also asks whether another process waits.
      #expect(calls["transaction"]?.prefix(5) == ["flock", "statx", "pread64", "write", "flock"])
      #expect(calls["first read"] == ["statx", "fstat", "pread64"])
      #expect(calls["followed read"] == [])
    }
  }

  /// The program that `strace` runs: this test in a process of its own.
  @Suite("The operations whose system calls are counted", .enabled(if: Trace.folder != nil, "not counted"))
  struct CountedOperations {
    final class Player {
      @Preference var volume: Int
      init(in store: FilePreferenceStore) { _volume = Preference(wrappedValue: 5, "volume", store: store) }
    }

    @Test("run") func run() throws {
      let folder = URL(filePath: try #require(Trace.folder))
      let file = folder.appending(path: "settings.preferences")
      let store = try FilePreferenceStore(url: file, followsOthers: false)
      let player = Player(in: store)
      for volume in 10..<12 { player.volume = volume }
      Trace.mark("assignment") { player.volume = 12 }
      try Trace.mark("set") { try store.set(13, forKey: "volume") }
      try Trace.mark("equal set") { try store.set(13, forKey: "volume") }
      try Trace.mark("transaction") { try store.transaction { try $0.set(14, forKey: "volume") } }

      let synced = try FilePreferenceStore(url: file, durability: .synced, followsOthers: false)
      try synced.set(15, forKey: "volume")
      try Trace.mark("synced set") { try synced.set(16, forKey: "volume") }

      let reader = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
      // A look is good for 50 milliseconds, so this one lets it grow old.
      Thread.sleep(forTimeInterval: 0.1)
      _ = try Trace.mark("first read") { try reader.value(Int.self, forKey: "volume") }
      for _ in 0..<3 { _ = try reader.value(Int.self, forKey: "volume") }
      _ = try Trace.mark("followed read") { try reader.value(Int.self, forKey: "volume") }
    }
  }

  /// The operations of a traced process: where each begins and ends, and the calls between.
  private enum Trace {
    static let folderVariable = "COUNTED_OPERATIONS_FOLDER"
    static let folder = ProcessInfo.processInfo.environment[folderVariable]

    /// Runs an operation between two calls that show in the log where it begins and ends.
    static func mark<Result>(_ operation: String, _ body: () throws -> Result) rethrows -> Result {
      _ = access("begin \(operation)", F_OK)
      defer { _ = access("end \(operation)", F_OK) }
      return try body()
    }

    /// Runs a suite of this test program, and returns the calls of each operation, on the thread that performed it.
    static func calls(of suite: String, inFolder folder: String, log: String) throws -> [String: [String]] {
      // The calls of the language's runtime aren't the store's. Nor does a store pause that isn't as slow as one that is
      // traced.
      let runtime = "futex,mmap,munmap,mremap,brk,madvise,mprotect,sched_yield,getrandom"
      let others = runtime + ",nanosleep,clock_nanosleep"
      let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let status = try Strace.run(
        [
          "-f", "-qq", "-o", log, "-e", "trace=!\(others)", program, "--testing-library", "swift-testing", "--filter",
          suite,
        ],
        adding: [folderVariable: folder])
      #expect(status == 0)
      var calls: [String: [String]] = [:]
      var current: (thread: Substring, operation: String)?
      for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
        let thread = line.prefix { $0 != " " }
        let call = line.dropFirst(thread.count).drop { $0 == " " }.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        if let quote = line.firstRange(of: "\"begin ") {
          let operation = String(line[quote.upperBound...].prefix { $0 != "\"" })
          current = (thread, operation)
          calls[operation] = []
        } else if line.contains("\"end ") {
          current = nil
        } else if let current, current.thread == thread, !call.isEmpty {
          // `fstat` has two names.
          calls[current.operation]?.append(call == "newfstatat" ? "fstat" : String(call))
        }
      }
      return calls
    }
  }
#endif
