import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Stores that share a file", .timeLimit(.hang)) struct SharedFileTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("that threads open and let go of at once lose no write")
  func openedAndClosed() throws {
    let file = folder.file()
    let threads = DispatchGroup()
    for thread in 0..<8 {
      threads.enter()
      startThread {
        defer { threads.leave() }
        for turn in 1...400 {
          let store = try FilePreferenceStore(url: file)
          if turn % 4 == 0 { try store.set(turn, forKey: "\(thread)") }
          if turn % 7 == 0 { _ = store.changes() }
        }
      }
    }
    threads.wait()
    let store = try FilePreferenceStore(url: file)
    for thread in 0..<8 { #expect(try store.value(Int.self, forKey: "\(thread)") == 400) }
    #expect(store.recovery == nil)
  }

  @Test("are opened and closed in a loop without leaving a descriptor open")
  func flat() async throws {
    #if os(Linux)
      // This runs in its own process, because other tests open files, too.
      await #expect(processExitsWith: .success) { [path = folder.file().path as String] in
        func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let file = URL(filePath: path)
        try FilePreferenceStore(url: file).set(0, forKey: "n")
        let before = try descriptors()
        for turn in 1...repetitions(debug: 200, release: 2000) {
          try FilePreferenceStore(url: file).set(turn, forKey: "n")
        }
        // Dispatch opens a few descriptors when it needs them, and may keep the last stores alive a little longer.
        let (limit, deadline) = (before + 20, ContinuousClock.now + .seconds(60))
        while try descriptors() >= limit, ContinuousClock.now < deadline { sched_yield() }
        insist(try descriptors() < limit)
      }
    #endif
  }
}
