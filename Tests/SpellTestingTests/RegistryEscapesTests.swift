import InjectedSpell
import PreferenceSpell
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

private struct Stray: Sendable {}
private struct Guest: Sendable {}
private struct Missing: Sendable {}
/// A manager that lives as long as the process, and so keeps alive the registry of the test that made it.
private final class Manager: Sendable {
  let read = Injected<Guest>()
  let unread = Injected<Guest>()
  static let shared = Manager()
  static let loosened = Manager()
}
private final class Visitor {
  static let line = #line + 1
  @Injected(.guide) var guide
  @Injected(.liveGuide) var liveGuide
  @Preference("visits of a stray task") var visits = 0
}
private final class Lost {
  static let line = #line + 1
  @Injected var missing: Missing
}
extension InjectionKeys {
  fileprivate static let guide = InjectionKey { Guest() }.test { Guest() }
  fileprivate static let liveGuide = InjectionKey { Guest() }
}

/// Registers in the shared registry, and gets the value several times.
private func useSharedRegistry(byKey: Bool) throws {
  let registry = InitializerRegistry.shared
  registry.register { Stray() }
  registry.register(.guide) { Guest() }
  for _ in 0..<3 {
    if byKey { _ = try registry.resolve(.guide) } else { _ = try registry.resolve(Stray.self) }
  }
}

@Suite(
  "What escapes a test's registry is an issue", .registry { $0.register { Guest() } }, .serialized, .timeLimit(.hang))
struct RegistryEscapesTests {
  @Test("a detached task that gets a service of the shared registry while a test has its own, whatever runs beside it")
  func detachedTask() async throws {
    InitializerRegistry.shared.register { Stray() }
    let ask = { @Sendable in _ = try? InitializerRegistry.shared.resolve(Stray.self) }
    let askForOptional = { @Sendable in _ = try? InitializerRegistry.shared.resolve(Stray?.self) }
    #expect(await issues(during: ask).isEmpty)
    let own: RegistryTrait = .registry { $0.register { Stray() } }
    for ask in [ask, askForOptional] {
      for tests in [[own], [own, own], [own, .registry], [.registry, own]] {
        let found = try await strayIssues(besides: tests, ask)
        #expect(found.count == 1)
        #expect(found.first?.text.contains("came from the shared registry, outside of any test") == true)
        #expect(found.first?.text.contains("detachedTask()") == true)
      }
      #expect(try await strayIssues(besides: [.registry], ask).isEmpty)
      #expect(try await strayIssues(besides: [], ask).isEmpty)
    }
  }

  @Test("a detached task that asks for a declared key, for which a running test has its own initializer")
  func key() async throws {
    let ask = { @Sendable in for _ in 0..<3 { _ = Visitor().guide } }
    let own: RegistryTrait = .registry { $0.register(.guide) { Guest() } }
    #expect(try await strayIssues(besides: [.registry], ask).isEmpty)
    let found = try await strayIssues(besides: [own, .registry], ask)
    #expect(found.count == 1)
    #expect(found.first?.text.contains("Guest for Visitor.guide came from the shared registry") == true)
    #expect(found.first?.location.fileID == #fileID && found.first?.location.line == Visitor.line)
  }

  @Test("a detached task that reaches a key's live initializer, if a running test is strict")
  func liveKey() async throws {
    let ask = { @Sendable in _ = Visitor().liveGuide }
    #expect(try await strayIssues(besides: [.registry], ask).isEmpty)
    let found = try await strayIssues(besides: [.registry(.strict), .registry], ask)
    #expect(found.map(\.location.line) == [Visitor.line + 1])
  }

  @Test("a detached task that uses a preference, if a running test chooses its own store")
  func preference() async throws {
    let use = { @Sendable in Visitor().visits += 1 }
    #expect(try await strayIssues(besides: [.registry], use).isEmpty)
    let found = try await strayIssues(besides: [.preferences(["visits": 1]), .registry], use)
    #expect(found.count == 1)
    #expect(found.first?.text.contains("any PreferenceStore named \"visits of a stray task\" came from") == true)
  }

  /// Returns the issues of `body` outside of any test, while only tests with these traits run.
  private func strayIssues(
    besides traits: [RegistryTrait], _ body: @escaping @Sendable () -> Void
  ) async throws -> [(text: String, location: SourceLocation)] {
    let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
    return try await Self.strayIssues(besides: traits[...], RegistryEscapes(), test, testCase, body)
  }

  /// Begins the tests in a detached task and runs `body` there, so that `body` runs outside of any test.
  private static func strayIssues(
    besides traits: ArraySlice<RegistryTrait>, _ escapes: RegistryEscapes, _ test: Test, _ testCase: Test.Case,
    _ body: @escaping @Sendable () -> Void
  ) async throws -> [(text: String, location: SourceLocation)] {
    try await Task.detached {
      try await RegistryEscapes.$current.withValue(escapes) {
        guard let trait = traits.first else { return await issues { body() } }
        let found = Shared<[(text: String, location: SourceLocation)]>([])
        try await trait.provideScope(for: test, testCase: testCase) {
          let issues = try await strayIssues(besides: traits.dropFirst(), escapes, test, testCase, body)
          found.update { $0 = issues }
        }
        return found.value
      }
    }.value
  }

  @Test("an object of a test, of its child registry, and of another case, which still runs")
  func objectOfRunningTest() async throws {
    let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
    let (isMade, isRead, made) = (AsyncLatch(), AsyncLatch(), Shared<[Manager]>([]))
    let other = Task.detached {
      let trait: RegistryTrait = .registry { $0.register { Guest() } }
      try await trait.provideScope(for: test, testCase: testCase) {
        let child = InitializerRegistry.current.child { _ in }
        made.update { $0 = [Manager(), child.run { Manager() }] }
        isMade.open()
        await isRead.wait()
        #expect(await issues { for manager in made.value { _ = try? manager.unread.resolve() } }.isEmpty)
      }
    }
    await isMade.wait()
    for manager in made.value {
      let found = await issues { _ = try? manager.read.resolve() }
      #expect(found.count == 1)
      #expect(found.first?.text.contains("belongs to the registry of another case of it") == true)
      #expect(found.first?.location.fileID == #fileID)
    }
    isRead.open()
    try await other.value
  }

  @Test("a detached task that finds nothing: the error says why")
  func detachedTaskWithoutService() async {
    let error = await Task.detached {
      #expect(throws: InjectionError.self) { try InitializerRegistry.current.resolve(Missing.self) }
    }.value
    #expect(
      error?.description.contains("This is the shared registry. A detached task and a queue") == true)
  }

  @Test("an object that a test made and another one uses")
  func staticObject() async { await useManagers() }

  @Test("the same object in the next test")
  func sameObject() async { await useManagers() }

  /// Uses two objects, which the first test of this serialized suite makes, and the next test finds.
  ///
  /// Each has a property that the first test reads, and one that it doesn't. The first object is made before any
  /// registration, because a registration would make its registry end with the test.
  private func useManagers() async {
    let isFirst = Self.isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
    let kept = await issues { use(Manager.shared, isFirst) }
    InitializerRegistry.current.register { Stray() }
    let loosened = await issues { use(Manager.loosened, isFirst) }
    #expect(kept.count == (isFirst ? 0 : 2) && loosened.count == (isFirst ? 0 : 2))
    #expect((kept + loosened).allSatisfy { $0.text.contains("Both have the object, as a static") })
    #expect((kept + loosened).allSatisfy { $0.location.fileID == #fileID })
  }
  private static let isFirst = Lock(true)

  private func use(_ manager: Manager, _ isFirst: Bool) {
    _ = try? manager.read.resolve()
    if !isFirst { _ = try? manager.unread.resolve() }
  }

  @Test("a property that can't be injected, and a strict test's live initializer, at the declaration")
  func placeOfFailure() async throws {
    let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
    let found = try await issues {
      let trait: RegistryTrait = .registry(.strict)
      try await trait.provideScope(for: test, testCase: testCase) { _ = Visitor().liveGuide }
    }
    #expect(found.map(\.location.line) == [Visitor.line + 1])
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let registry = InitializerRegistry(context: .test)
        registry.reporter?.receivers.withLock {
          $0.onFailure = { _, place in writeToStandardError("place: \(place)\n") }
        }
        registry.run { _ = Lost().missing }
      })
    let output = text(result.standardErrorContent)
    #expect(output.contains("place: SpellTestingTests/RegistryEscapesTests.swift:\(Lost.line)"))
  }

  @Test(
    "the first use of what a test registers in the shared registry, for a type or a declared key, prints a line",
    arguments: [("Stray", false), ("Guest", true)])
  func sharedRegistry(type: String, byKey: Bool) async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [byKey = byKey as Bool] in try useSharedRegistry(byKey: byKey)
    }
    let output = text(result.standardErrorContent)
    #expect(output.ranges(of: "a test asked the shared registry for \(type)").count == 1)
  }

  @Test("no line is printed for the own initializer of a declared key")
  func ownInitializer() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        _ = try InitializerRegistry.shared.resolve(.guide)
      })
    #expect(!text(result.standardErrorContent).contains("shared registry"))
  }
}
