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

@Suite("Several processes", .timeLimit(.hang)) struct ProcessTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  @Test("eight processes that each increment a number end at exactly the sum")
  func increments() async throws {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { [path = file.path] in
          await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try FilePreferenceStore(url: URL(filePath: path))
            for _ in 0..<repetitions(debug: 250, release: 2000) {
              try store.transaction { changes in
                try changes.set((changes.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
              }
            }
          }
        }
      }
    }
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "count") == 8 * repetitions(debug: 250, release: 2000))
    #expect(store.recovery == nil)
    #expect(try file.contents.count < 300_000)
  }

  @Test("a process that is killed loses no write that had returned")
  func kill9() async throws {
    let acknowledged = folder.file("acknowledged")
    var previous = 0
    for round in 0..<Effort.count(12, long: 500) {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = file.path as String, acknowledged = acknowledged.path as String, round = round as Int] in
        try writeUntilKilled(path, acknowledging: acknowledged, round: round)
      }
      let store = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
      let last = try acknowledged.text.split(separator: "\n").compactMap { Int($0) }.last ?? 0
      let count = try store.value(Int.self, forKey: "count") ?? 0
      // One more value may have been written without acknowledgment, in the previous round too.
      let known = max(last, previous)
      #expect(count == known || count == known + 1, "round \(round), acknowledged \(last), known \(previous)")
      previous = count
      #expect(try store.value(Int.self, forKey: "twin") ?? 0 == count, "round \(round)")
      #expect(store.recovery?.skippedLines ?? [] == [], "round \(round)")
      #expect(try store.value(Int.self, forKey: "#version") == round + 1 || count == 0, "round \(round)")
    }
    #expect(previous > 0)
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem(), compactingAbove: 0).set(
      "x", forKey: "last")
    #expect(try folder.names.filter { $0.contains(".rewriting") } == [])
  }

  @Test("a process that dies within a transaction leaves no lock and no change", .timeLimit(.hang))
  func deathInTransaction() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = file.path as String] in
      try FilePreferenceStore(url: URL(filePath: path)).transaction { changes in
        try changes.set(1, forKey: "a")
        kill(getpid(), SIGKILL)
      }
    }
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys.isEmpty)
    try store.set(2, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test(
    "a process that is forked off and opens the file again loses nothing of its parent's writes, nor its parent its")
  func fork() async throws {
    #if canImport(Glibc)
      await #expect(processExitsWith: .success) { [path = file.path as String] in
        let store = try FilePreferenceStore(url: URL(filePath: path))
        try store.set(0, forKey: "count")
        let child = forkWhileOthersSleep()
        insist(child >= 0)
        let own = child == 0 ? try FilePreferenceStore(url: URL(filePath: path)) : store
        for _ in 0..<500 {
          try own.transaction { changes in
            try changes.set((changes.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
          }
        }
        if child == 0 { _exit(0) }
        var status: Int32 = 0
        insist(waitpid(child, &status, 0) == child && status == 0)
        try store.reload()
        insist(try store.value(Int.self, forKey: "count") == 1000)
      }
    #endif
  }
}

/// Counts up in transactions, with compactions and a migration, acknowledges each, and is killed at a random instant.
private func writeUntilKilled(_ path: String, acknowledging acknowledged: String, round: Int) throws {
  let log = open(acknowledged, O_WRONLY | O_CREAT | O_APPEND, 0o600)
  insist(log >= 0)
  let store = try FilePreferenceStore(path: FilePath(path), system: FileSystem(), compactingAbove: 2000)
  try store.migrate(to: round + 1) { _, changes in try changes.set(round, forKey: "round") }
  let instant = ContinuousClock.now + .microseconds(Int.random(in: 0..<20_000))
  Thread.detachNewThread {
    while ContinuousClock.now < instant {}
    kill(getpid(), SIGKILL)
  }
  var count = try store.value(Int.self, forKey: "count") ?? 0
  while true {
    count += 1
    try store.transaction { changes in
      try changes.set(count, forKey: "count")
      try changes.set(count, forKey: "twin")
    }
    let line = Array("\(count)\n".utf8)
    insist(write(log, line, line.count) == line.count)
  }
}
