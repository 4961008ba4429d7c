import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Migration", .timeLimit(.hang)) struct MigrationTests {
  struct Failure: Error {}
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("runs once, from the version that the store has", arguments: StoreKind.allCases)
  func once(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set(7, forKey: "loudness")
    var runs: [Int] = []
    func migrate(to version: Int) throws -> Bool {
      try store.migrate(to: version) { from, changes in
        runs.append(from)
        try changes.moveValue(forKey: "loudness", to: "volume")
      }
    }
    #expect(try migrate(to: 1))
    #expect(try !migrate(to: 1))
    #expect(try migrate(to: 3))
    #expect(try !migrate(to: 2))
    #expect(runs == [0, 1])
    #expect(store.keys == ["volume", "#version"])
  }

  @Test("changes nothing when it fails, and is tried again", arguments: StoreKind.allCases)
  func failure(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set(1, forKey: "a")
    #expect(throws: Failure.self) {
      try store.migrate(to: 1) { _, changes in
        changes.removeAll()
        throw Failure()
      }
    }
    #expect(store.keys == ["a"])
    #expect(try store.migrate(to: 1) { _, changes in try changes.set(2, forKey: "a") })
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("runs once in all when several processes start together")
  func processes() async throws {
    try FilePreferenceStore(url: folder.file()).set(0, forKey: "runs")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [path = folder.file().path] in
          await #expect(processExitsWith: .success) { [path = path as String] in
            try FilePreferenceStore(url: URL(filePath: path)).migrate(to: 1) { _, changes in
              try changes.set(changes.value(Int.self, forKey: "runs")! + 1, forKey: "runs")
            }
          }
        }
      }
    }
    #expect(try FilePreferenceStore(url: folder.file()).value(Int.self, forKey: "runs") == 1)
  }
}
