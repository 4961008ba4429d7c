import Foundation
import PreferenceStorage
import SpellTesting
import TestSupport
import Testing

private let everyCheck = PreferenceStoreSuite.checks + PreferenceStoreSuite.lastingChecks

@Suite("PreferenceStoreSuite", .timeLimit(.hang)) struct PreferenceStoreSuiteTests {
  @Test("is passed by the store in memory", arguments: PreferenceStoreSuite.checks)
  func memory(check: PreferenceStoreSuite.Check) async {
    await check.run { MemoryPreferenceStore() }
  }

  @Test("is passed by the store in a file, written and synced", arguments: everyCheck, [Durability.written, .synced])
  func file(check: PreferenceStoreSuite.Check, durability: Durability) async throws {
    let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    // The stores are opened by path and system, so that a second store shares no memory with the first.
    let path = folder.appending(path: "test.preferences").path
    let open: @Sendable () throws -> any PreferenceStore = {
      try FilePreferenceStore(path: FilePath(path), durability: durability, system: FileSystem())
    }
    await check.run(reopening: open, open)
  }

  @Test("is passed by a custom store", arguments: everyCheck)
  func own(check: PreferenceStoreSuite.Check) async {
    let medium = Medium()
    await check.run(reopening: { MediumStore(medium) }) { MediumStore(medium) }
  }

  @Test("is passed by a store that forwards to another one", arguments: everyCheck)
  func faultless(check: PreferenceStoreSuite.Check) async {
    let store = FaultyStore(nil)
    await check.run(reopening: { try store.reopened() }) { store }
  }

  @Test("finds each fault, and shows it at the call of the check", arguments: Fault.allCases)
  func faulty(fault: Fault) async throws {
    let check = try #require(everyCheck.first { $0.name == fault.check })
    let store = FaultyStore(fault)
    let here = #_sourceLocation
    let issues = await issues {
      await check.run(reopening: { try store.reopened() }, patience: .milliseconds(20), sourceLocation: here) { store }
    }
    #expect(!issues.isEmpty && issues.allSatisfy { $0.location == here && $0.text.contains(check.name) })
  }

  @Test("has a name for each check, and for each check a fault that it finds")
  func names() {
    #expect(Set(everyCheck.map(\.name)).count == everyCheck.count)
    #expect(Set(everyCheck.map(\.id)) == Set(Fault.allCases.map(\.check)))
  }

  @Test("fails with the error of a store that can't be created")
  func unmade() async throws {
    struct Unmade: Error {}
    let check = try #require(everyCheck.first)
    let issues = await issues { await check.run { throw Unmade() } }
    #expect(issues.map(\.text) == ["A store \(check.name), and this one threw: Unmade()"])
  }

  @Test("fails a lasting check that has no way to open the store again")
  func noWay() async {
    for check in PreferenceStoreSuite.lastingChecks {
      let issues = await issues { await check.run { MemoryPreferenceStore() } }
      #expect(!issues.isEmpty && issues.allSatisfy { $0.text.contains("run(reopening:") })
    }
  }
}
