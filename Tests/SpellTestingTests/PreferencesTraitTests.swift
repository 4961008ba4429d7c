import Foundation
import Support
import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Player {
  @Preference var volume = 5
}

private func store() throws -> any PreferenceStore {
  try InitializerRegistry.current.resolve((any PreferenceStore).self)
}

/// Every store that a test here had, kept so that no other store gets the same address.
private let seen = Lock<[any PreferenceStore]>([])

/// Fails if another test has had the store, or if the store isn't empty.
private func expectFresh(sourceLocation: SourceLocation = #_sourceLocation) throws {
  let store = try store()
  let isKnown = seen.withLock { seen in
    defer { seen.append(store) }
    return seen.contains { $0 === store }
  }
  #expect(!isKnown, sourceLocation: sourceLocation)
  #expect(store.keys.isEmpty, sourceLocation: sourceLocation)
  Player().volume += 1
  #expect(try store.value(Int.self, forKey: "volume") == 6, sourceLocation: sourceLocation)
}

@Suite("The preferences trait on a suite", .preferences(MemoryPreferenceStore())) struct PreferencesTraitTests {
  @Test("the preferences trait on a suite gives a test a store")
  func givesATestAStore() throws { try expectFresh() }

  @Test("the preferences trait on a suite gives each case its own", arguments: 1...20)
  func givesEachCaseItsOwn(number: Int) throws { try expectFresh() }

  @Suite struct Within {
    @Test("the preferences trait on a suite gives each test of an inner suite its own store", arguments: 1...5)
    func givesThoseOfASuiteWithinTheirOwn(number: Int) throws { try expectFresh() }
  }

  @Test("a test's preferences trait replaces its suite's", .preferences(["volume": 9]))
  func givesWayToATestsOwn() { #expect(Player().volume == 9) }

  @Test("the preferences trait works together with a test's registrations", .registry { $0.register { 7 } })
  func goesTogetherWithATestsRegistrations() throws {
    try expectFresh()
    #expect(try InitializerRegistry.current.resolve(Int.self) == 7)
  }

  @Test("a plain registry trait doesn't replace the preferences", .registry)
  func isNotReplacedByAPlainRegistryTrait() throws {
    #expect(try store() is MemoryPreferenceStore)
    try expectFresh()
  }
}

@Suite("The preferences trait on a test", .timeLimit(.hang)) struct PreferencesOfTestTests {
  @Test("the preferences trait provides initial values", .preferences(["volume": 7, "nickname": "Ada"]))
  func beginsWithValues() throws {
    #expect(Player().volume == 7)
    #expect(try store().keys == ["volume", "nickname"])
    #expect(InitializerRegistry.current !== InitializerRegistry.shared)
  }

  @Test(
    "the preferences trait works before the registry trait", .preferences(["volume": 7]),
    .registry { $0.register { "seven" } })
  func standsBeforeRegistry() throws {
    #expect(Player().volume == 7)
    #expect(try InitializerRegistry.current.resolve(String.self) == "seven")
  }

  @Test(
    "the preferences trait works after the registry trait", .registry { $0.register { "seven" } },
    .preferences(["volume": 7]))
  func standsAfterRegistry() throws {
    #expect(Player().volume == 7)
    #expect(try InitializerRegistry.current.resolve(String.self) == "seven")
  }

  @Test(
    "the preferences trait takes a store in a file",
    .preferences(
      try FilePreferenceStore(url: .temporaryDirectory.appending(path: "\(UUID().uuidString)/test.preferences"))),
    arguments: 1...5)
  func takesAStoreInAFile(number: Int) throws {
    #expect(try store() is FilePreferenceStore)
    try expectFresh()
  }

  @Test("the preferences trait fails a test whose store can't be created, or can't keep the values")
  func failsATestWithoutItsStore() async throws {
    let test = try #require(Test.current)
    let absent: RegistryTrait = .preferences(try FilePreferenceStore(url: URL(filePath: "/dev/null/a.preferences")))
    for trait in [absent, .preferences(["": 7])] {
      await #expect(throws: PreferenceError.self) {
        try await trait.provideScope(for: test, testCase: Test.Case.current) { Issue.record("The test was run.") }
      }
    }
  }
}
