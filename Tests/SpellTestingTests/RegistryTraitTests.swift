import InjectedSpell
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

private struct Clock: Sendable { var name = "clock" }
/// A service whose property asks the registry in which the service was made.
private final class Asking: Sendable { let clock = Injected<Clock>() }
private final class Once: Sendable {
  let factory: ArgumentFactory<Int, Int>
  init(_ factory: ArgumentFactory<Int, Int>) { self.factory = factory }
}

/// Every registry that a test here had, kept for as long as the process runs.
private enum Seen {
  private static let registries = Lock<[InitializerRegistry]>([])

  /// Keeps the registry, so that no other registry gets the same address; returns false if it was seen before.
  static func insert(_ registry: InitializerRegistry) -> Bool {
    registries.withLock { registries in
      defer { registries.append(registry) }
      return !registries.contains { $0 === registry }
    }
  }
}

/// Fails if another test has had the current registry, or if the registry isn't empty.
private func expectFresh(sourceLocation: SourceLocation = #_sourceLocation) {
  let registry = InitializerRegistry.current
  #expect(registry !== InitializerRegistry.shared, sourceLocation: sourceLocation)
  #expect(registry.parent == nil, sourceLocation: sourceLocation)
  #expect(Seen.insert(registry), sourceLocation: sourceLocation)
  #expect(throws: InjectionError.self, sourceLocation: sourceLocation) { try registry.resolve(Clock.self) }
  registry.register { Clock() }
}

@Suite("The registry trait on a suite", .registry, .timeLimit(.hang)) struct SuiteTraitTests {
  /// A suite's own properties are made under the test's registry too.
  private let atInit = InitializerRegistry.current

  @Test("the registry trait on a suite gives a test a new registry")
  func givesOneTestAFreshRegistry() { expectFresh() }

  @Test(
    "the registry trait on a suite gives each combination of arguments its own registry", arguments: ["a", "b"], 1...10)
  func givesEachCombinationItsOwn(letter: String, number: Int) { expectFresh() }

  @Test("the registry is current from the suite's initializer to the end of the test")
  func isCurrentFromTheSuitesInitializerToTheEndOfTheTest() async {
    let registry = InitializerRegistry.current
    #expect(atInit === registry)
    await Task.yield()
    #expect(InitializerRegistry.current === registry)
  }

  @Test("the registry is current in child tasks but not in detached ones")
  func reachesChildTasksButNoDetachedOnes() async {
    let registry = InitializerRegistry.current
    async let child = InitializerRegistry.current
    #expect(await child === registry)
    #expect(await Task { InitializerRegistry.current }.value === registry)
    #expect(await Task.detached { InitializerRegistry.current }.value === InitializerRegistry.shared)
  }

  @Test("the registry is current in tests on the main actor")
  @MainActor func reachesTestsOnTheMainActor() { expectFresh() }

  @Suite("reaches a suite within") struct Nested {
    @Test("the registry trait on a suite gives the test of an inner suite a new registry")
    func givesItsTestAFreshRegistry() { expectFresh() }

    @Suite("however deep") struct Deeper {
      @Test("the registry trait on a suite gives each case of an inner suite its own registry", arguments: 1...5)
      func givesItsCasesTheirOwn(number: Int) { expectFresh() }
    }
  }
}

@Suite("The registry trait on a test", .timeLimit(.hang)) struct TestTraitTests {
  @Test("the registry trait on a test gives it a new registry", .registry)
  func givesItAFreshRegistry() { expectFresh() }

  @Test("the registry trait on a test gives each case its own", .registry, arguments: 1...10)
  func givesEachCaseItsOwn(number: Int) { expectFresh() }

  @Test("a registry is released after its test, with everything that was made and registered there")
  func goesWithItsTest() async throws {
    let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
    let left = Shared<[@Sendable () -> Bool]>([])
    for _ in 0..<50 {
      let trait: RegistryTrait = .registry
      try await trait.provideScope(for: test, testCase: testCase) {
        let registry = InitializerRegistry.current
        left.update { $0.append { [weak registry] in registry != nil } }
        registry.register((any Sendable).self, .instance(Asking()))
      }
    }
    #expect(left.value.count == 50)
    #expect(left.value.count(where: { $0() }) == 0)
  }

  @Test("a read that needs the registry of a test that has ended names the test, and says what to hold")
  func lateRead() async throws {
    let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
    let left = Shared<(asking: Asking, factory: ArgumentFactory<Int, Int>)?>(nil)
    let trait: RegistryTrait = .registry
    try await trait.provideScope(for: test, testCase: testCase) {
      let registry = InitializerRegistry.current
      registry.register(.factory { (_, number: Int) in number })
      registry.register(scope: .singleton) { Asking() }
      registry.register(scope: .singleton) { Once(try $0.resolve()) }
      let (asking, once) = try (registry.resolve(Asking.self), registry.resolve(Once.self))
      left.update { $0 = (asking, once.factory) }
    }
    // A detached task belongs to no test, like work that a test has left behind.
    let messages = await Task.detached {
      let readers: [@Sendable () throws -> Void] = [
        { _ = try left.value?.asking.clock.resolve() }, { _ = try left.value?.factory(1) },
      ]
      return readers.map { read in
        do { try read() } catch { return "\(error)" }
        return ""
      }
    }.value
    for message in messages {
      #expect(message.contains("of the test lateRead() (SpellTestingTests/RegistryTraitTests.swift:"), "\(message)")
      #expect(message.contains("let that work hold the registry: let registry = InitializerRegistry.current"))
    }
  }

  @Test("a test's trait doesn't apply to its neighbor")
  func isNotThereForItsNeighbour() {
    #expect(InitializerRegistry.current === InitializerRegistry.shared)
  }
}

@Suite("A registry trait that registers", .registry { $0.register { Clock(name: "suite's") } })
struct ConfiguredTraitTests {
  private func name() -> String? { try? InitializerRegistry.current.resolve(Clock.self).name }

  @Test("a registry trait registers for each case again, and a case may replace what it registers", arguments: 1...10)
  func registersForEachCaseAnew(number: Int) {
    #expect(name() == "suite's")
    InitializerRegistry.current.register { Clock(name: "\(number)") }
    #expect(name() == "\(number)")
  }

  @Test("a test's trait adds to its suite's registrations", .registry { $0.register(Int.self) { 7 } })
  func isAddedToByATraitOfTheTest() {
    #expect(name() == "suite's")
    #expect((try? InitializerRegistry.current.resolve(Int.self)) == 7)
  }

  @Suite("and one of a suite within", .registry { $0.register { Clock(name: "inner") } }) struct Inner {
    @Test("an inner suite's registration wins")
    func whichWins() { #expect((try? InitializerRegistry.current.resolve(Clock.self).name) == "inner") }

    @Test("a test's registration wins over its suites'", .registry { $0.register { Clock(name: "test's") } })
    func orTheTestsWhichWinsOverBoth() {
      #expect((try? InitializerRegistry.current.resolve(Clock.self).name) == "test's")
    }
  }
}

@Suite(
  "An object that a trait makes",
  .registry {
    $0.register { Clock(name: "suite's") }
    $0.register(.instance(Asking()))
  })
struct ObjectOfTraitTests {
  @Test("an object that a suite's trait makes asks the test's registry")
  func ofTheSuite() throws {
    #expect(try InitializerRegistry.current.resolve(Asking.self).clock.resolve().name == "suite's")
  }

  @Test(
    "an object that a test's trait makes asks the test's registry, too",
    .registry { $0.register(named: "test's", .instance(Asking())) }, .registry { $0.register { Clock(name: "test's") } }
  )
  func ofTheTest() throws {
    for name in [nil, "test's"] {
      #expect(try InitializerRegistry.current.resolve(Asking.self, named: name).clock.resolve().name == "test's")
    }
  }
}

/// Registers the services of a program in which a page is created once and holds a clock.
private func registerProgram(in registry: InitializerRegistry) {
  registry.register(Clock.self) { Clock(name: "program's") }
  registry.register(String.self, scope: .singleton) { "page with the \(try $0.resolve(Clock.self).name) clock" }
}

@Suite("A suite that registers what the program does", .registry { registerProgram(in: $0) })
struct ProgramTraitTests {
  private func page() throws -> String { try InitializerRegistry.current.resolve() }

  @Test("a suite has the program's registrations")
  func hasIt() throws { #expect(try page() == "page with the program's clock") }

  @Test(
    "a test overrides the program's registrations, even within a singleton",
    .registry { $0.register { Clock(name: "test's") } })
  func isOverriddenByATestEvenWithinASingleton() throws { #expect(try page() == "page with the test's clock") }

  @Suite(.registry { $0.register { Clock(name: "suite's") } }) struct Within {
    @Test(
      "the last of several traits overrides the program's registrations", .registry,
      .registry { $0.register { Clock(name: "last") } }, .registry)
    func isOverriddenByTheLastOfSeveralTraits() throws {
      #expect(try InitializerRegistry.current.resolve(String.self) == "page with the last clock")
    }
  }
}

/// A trait of another library, which makes its own registry current.
private struct OtherTrait: TestTrait, TestScoping {
  static let registry = InitializerRegistry()

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await Self.registry.run(function)
  }
}

@Suite("A registry of another library's trait") struct OtherTraitTests {
  @Test(
    "the registry of another library's trait is asked and left as it is", OtherTrait(),
    .registry { $0.register { Clock(name: "child's") } })
  func isLookedAtAndLeftAsItIs() throws {
    #expect(InitializerRegistry.current.parent === OtherTrait.registry)
    #expect(try InitializerRegistry.current.resolve(Clock.self).name == "child's")
    #expect(throws: InjectionError.self) { try OtherTrait.registry.resolve(Clock.self) }
  }

  @Test(
    "the registry of another library's trait is the parent of an inner trait's",
    .registry { $0.register { Clock(name: "outer") } }, OtherTrait(), .registry)
  func isTheParentOfOneWithinItToo() {
    #expect(InitializerRegistry.current.parent === OtherTrait.registry)
    #expect(throws: InjectionError.self) { try InitializerRegistry.current.resolve(Clock.self) }
  }
}

private struct Unavailable: Error {}

@Suite("What a trait can't make", .timeLimit(.hang)) struct FailingTraitTests {
  @Test("a trait that throws fails the test before it runs")
  func isAnErrorBeforeTheTestIsRun() async throws {
    let test = try #require(Test.current)
    let trait: RegistryTrait = .registry { _ in throw Unavailable() }
    await #expect(throws: Unavailable.self) {
      try await trait.provideScope(for: test, testCase: Test.Case.current) {
        Issue.record("The test was run.")
      }
    }
  }
}

@Suite("Tests that run in parallel", .registry, .timeLimit(.hang)) struct IsolationTests {
  @Test("tests that run in parallel see only their own registrations", arguments: 0..<50)
  func seeOnlyWhatTheyRegistered(number: Int) async {
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
