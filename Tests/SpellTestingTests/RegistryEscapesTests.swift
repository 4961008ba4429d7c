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
/// A manager that lives as long as the process, and so keeps the registry of the test that made it.
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
extension InjectionKeys {
  fileprivate static let guide = InjectionKey { Guest() }.test { Guest() }
  fileprivate static let liveGuide = InjectionKey { Guest() }
}

@Suite("What escapes a test's registry is an issue", .registry { $0.register { Guest() } }, .serialized)
struct RegistryEscapesTests {
  @Test("a detached task that gets a service of the shared registry")
  func detachedTask() async throws {
    InitializerRegistry.shared.register { Stray() }
    #expect(await issues { _ = try? InitializerRegistry.shared.resolve(Stray.self) }.isEmpty)
    let found = await Task.detached {
      await issues { _ = try? InitializerRegistry.current.resolve(Stray.self) }.map(\.text)
    }.value
    #expect(found.count == 1)
    #expect(found.first?.contains("Stray came from the shared registry, outside of any test") == true)
  }

  @Test("a detached task that asks for a declared key, for which the test has its own initializer")
  func key() async {
    #expect(await strayIssues { _ = Visitor().guide }.isEmpty)
    InitializerRegistry.current.register(.guide) { Guest() }
    #expect(await issues { _ = Visitor().guide }.isEmpty)
    let found = await strayIssues { for _ in 0..<3 { _ = Visitor().guide } }
    #expect(found.count == 1)
    #expect(found.first?.text.contains("Guest for Visitor.guide came from the shared registry") == true)
    #expect(found.first?.text.contains("key()") == true)
    #expect(found.first?.location.fileID == #fileID && found.first?.location.line == Visitor.line)
  }

  @Test("a detached task that reaches a key's live initializer in a strict test", .registry(.strict))
  func liveKey() async {
    let found = await strayIssues { _ = Visitor().liveGuide }
    #expect(found.map(\.location.line) == [Visitor.line + 1])
  }

  @Test("a detached task that uses a preference")
  func preference() async {
    let found = await strayIssues { Visitor().visits += 1 }
    #expect(found.count == 1)
    #expect(found.first?.text.contains("any PreferenceStore named \"visits of a stray task\" came from") == true)
  }

  private func strayIssues(_ body: @escaping @Sendable () -> Void) async -> [(text: String, location: SourceLocation)] {
    await Task.detached { await issues { body() } }.value
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

  /// The suite is serialized, so one test makes the objects, and the other one finds them, with a property that was read
  /// and one that wasn't.
  ///
  /// What a test registers makes its registry end with it; the first object is made where nothing is registered.
  private func useManagers() async {
    let isFirst = Self.isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
    let kept = await issues { use(Manager.shared, isFirst) }
    InitializerRegistry.current.register { Stray() }
    let loosened = await issues { use(Manager.loosened, isFirst) }
    #expect(kept.count == (isFirst ? 0 : 2) && loosened.count == (isFirst ? 0 : 2))
    #expect((kept + loosened).allSatisfy { $0.text.contains("which has ended. The object outlives the test") })
    #expect((kept + loosened).allSatisfy { $0.location.fileID == #fileID })
  }
  private static let isFirst = Lock(true)

  private func use(_ manager: Manager, _ isFirst: Bool) {
    _ = try? manager.read.resolve()
    if !isFirst { _ = try? manager.unread.resolve() }
  }

  @Test("the first use of the shared registry in a process of tests prints a line")
  func sharedRegistry() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let registry = InitializerRegistry.shared
        registry.register { Stray() }
        for _ in 0..<3 { _ = try registry.resolve(Stray.self) }
      })
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.ranges(of: "a test asked the shared registry for Stray").count == 1)
  }

  @Test("so does the first use of what a test registers there for a declared key")
  func sharedKey() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let registry = InitializerRegistry.shared
        registry.register(.guide) { Guest() }
        for _ in 0..<3 { _ = try registry.resolve(.guide) }
      })
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.ranges(of: "a test asked the shared registry for Guest").count == 1)
  }

  @Test("no line is printed for the own initializer of a declared key")
  func ownInitializer() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        _ = try InitializerRegistry.shared.resolve(.guide)
      })
    #expect(!String(decoding: result.standardErrorContent, as: UTF8.self).contains("shared registry"))
  }
}
