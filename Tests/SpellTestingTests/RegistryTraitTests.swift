import SpellRegistry
import SpellTesting
import Synchronization
import Testing

private struct Clock: Sendable { var name = "clock" }

/// Every registry that a test here had, by identity, for as long as the process runs.
private enum Seen {
  private static let registries = Mutex<[InitializerRegistry]>([])

  /// Keeps the registry, so that no other can have its address; false where it was seen before.
  static func insert(_ registry: InitializerRegistry) -> Bool {
    registries.withLock { registries in
      defer { registries.append(registry) }
      return !registries.contains { $0 === registry }
    }
  }
}

/// Fails where the current registry is one that another test has, or has something in it.
private func expectFresh(sourceLocation: SourceLocation = #_sourceLocation) {
  let registry = InitializerRegistry.current
  #expect(registry !== InitializerRegistry.shared, sourceLocation: sourceLocation)
  #expect(registry.parent == nil, sourceLocation: sourceLocation)
  #expect(Seen.insert(registry), sourceLocation: sourceLocation)
  #expect(throws: InjectionError.self, sourceLocation: sourceLocation) { try registry.resolve(Clock.self) }
  registry.register { Clock() }
}

@Suite("The registry trait on a suite", .registry) struct SuiteTraitTests {
  /// A suite's own properties are made under the test's registry too.
  private let atInit = InitializerRegistry.current

  @Test func givesOneTestAFreshRegistry() { expectFresh() }

  @Test func givesAnotherTestAnother() { expectFresh() }

  @Test(arguments: 1...20) func givesEachCaseItsOwn(number: Int) { expectFresh() }

  @Test(arguments: ["a", "b"], [1, 2]) func givesEachCombinationItsOwn(letter: String, number: Int) { expectFresh() }

  @Test func isCurrentFromTheSuitesInitializerToTheEndOfTheTest() async {
    let registry = InitializerRegistry.current
    #expect(atInit === registry)
    await Task.yield()
    #expect(InitializerRegistry.current === registry)
  }

  @Test func reachesChildTasksButNoDetachedOnes() async {
    let registry = InitializerRegistry.current
    async let child = InitializerRegistry.current
    #expect(await child === registry)
    #expect(await Task { InitializerRegistry.current }.value === registry)
    #expect(await Task.detached { InitializerRegistry.current }.value === InitializerRegistry.shared)
  }

  @Test @MainActor func reachesTestsOnTheMainActor() { expectFresh() }

  @Suite("reaches a suite within") struct Nested {
    @Test func givesItsTestAFreshRegistry() { expectFresh() }

    @Suite("however deep") struct Deeper {
      @Test(arguments: 1...5) func givesItsCasesTheirOwn(number: Int) { expectFresh() }
    }
  }
}

@Suite("The registry trait on a test") struct TestTraitTests {
  @Test(.registry) func givesItAFreshRegistry() { expectFresh() }

  @Test(.registry, arguments: 1...10) func givesEachCaseItsOwn(number: Int) { expectFresh() }

  @Test func isNotThereForItsNeighbour() {
    #expect(InitializerRegistry.current === InitializerRegistry.shared)
  }
}

@Suite("A registry trait that registers", .registry { $0.register { Clock(name: "suite's") } })
struct ConfiguredTraitTests {
  private func name() -> String? { try? InitializerRegistry.current.resolve(Clock.self).name }

  @Test func registersForEachTest() {
    #expect(name() == "suite's")
    InitializerRegistry.current.register { Clock(name: "test's") }
    #expect(name() == "test's")
  }

  @Test(arguments: 1...10) func registersForEachCaseAnew(number: Int) {
    #expect(name() == "suite's")
    InitializerRegistry.current.register { Clock(name: "\(number)") }
    #expect(name() == "\(number)")
  }

  @Test(.registry { $0.register(Int.self) { 7 } }) func isAddedToByATraitOfTheTest() {
    #expect(name() == "suite's")
    #expect((try? InitializerRegistry.current.resolve(Int.self)) == 7)
  }

  @Suite("and one of a suite within", .registry { $0.register { Clock(name: "inner") } }) struct Inner {
    @Test func whichWins() { #expect((try? InitializerRegistry.current.resolve(Clock.self).name) == "inner") }
  }
}

@Suite("Tests that run in parallel", .registry) struct IsolationTests {
  @Test(arguments: 0..<50) func seeOnlyWhatTheyRegistered(number: Int) async {
    InitializerRegistry.current.register { Clock(name: "\(number)") }
    await withTaskGroup(of: String?.self) { group in
      for _ in 0..<10 {
        group.addTask {
          await Task.yield()
          return try? InitializerRegistry.current.resolve(Clock.self).name
        }
      }
      for await name in group { #expect(name == "\(number)") }
    }
  }
}
