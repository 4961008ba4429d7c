import InjectedSpell
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
  let guests = [Injected<Guest>(), Injected<Guest>()]
  static let shared = Manager()
}

/// The reports while these tests ran.
private enum Reports {
  private static let all = Lock<[String]>([])
  static func contain(_ part: String) -> Bool { all.withLock { $0.contains { $0.contains(part) } } }
  static func collect() {
    RegistryEscapes.receive { text in all.withLock { $0.append(text) } }
  }
}

@Suite("What escapes a test's registry is an issue", .registry { $0.register { Guest() } }, .serialized)
struct RegistryEscapesTests {
  @Test("a detached task that gets a service of the shared registry")
  func detachedTask() async throws {
    Reports.collect()
    defer { RegistryEscapes.receive(nil) }
    InitializerRegistry.shared.register { Stray() }
    _ = try InitializerRegistry.shared.resolve(Stray.self)
    #expect(!Reports.contain("Stray"))
    _ = try await Task.detached { try InitializerRegistry.current.resolve(Stray.self) }.value
    #expect(Reports.contain("Stray came from the shared registry, outside of any test"))
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
  func staticObject() { readGuest(0) }

  @Test("the same object in the next test")
  func sameObject() { readGuest(1) }

  /// The suite is serialized, so one test makes the object, and the other one finds it.
  private func readGuest(_ index: Int) {
    Reports.collect()
    defer { RegistryEscapes.receive(nil) }
    _ = try? Manager.shared.guests[index].resolve()
    Self.readers.withLock { readers in
      readers.insert(index)
      #expect(Reports.contain("which has ended") == (readers.count == 2))
    }
  }
  private static let readers = Lock<Set<Int>>([])

  @Test("the first use of the shared registry in a process of tests prints a line")
  func sharedRegistry() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        InitializerRegistry.shared.register { Stray() }
        for _ in 0..<3 { _ = try InitializerRegistry.shared.resolve(Stray.self) }
      })
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.ranges(of: "a test asked the shared registry for Stray").count == 1)
  }
}
