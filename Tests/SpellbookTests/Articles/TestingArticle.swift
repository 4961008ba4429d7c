import Foundation
import SpellTesting
import Spellbook
import Testing

/// The samples of the article "Testing".
enum TestingArticle {
  protocol Tracker: Sendable { var name: String { get } }
  struct FakeTracker: Tracker { let name: String }
  final class Page {
    @Injected var tracker: any Tracker
    @Preference var visits = 0
  }

  @Suite(.registry) struct PageTests {
    @Test func usesTheTracker() {
      InitializerRegistry.current.register((any Tracker).self) { FakeTracker(name: "fake") }
      #expect(Page().tracker.name == "fake")
    }

    @Test func countsVisits() throws {
      Page().visits += 1
      let store = try InitializerRegistry.current.resolve((any PreferenceStore).self)
      #expect(try store.value(Int.self, forKey: "visits") == 1)
    }
  }

  @Suite(.registry { $0.register((any Tracker).self) { FakeTracker(name: "of all tests") } })
  struct MorePageTests {
    @Test(arguments: 1...3) func hasATracker(_ number: Int) {
      #expect(Page().tracker.name == "of all tests")
    }

    @Test(.registry { $0.register((any Tracker).self) { FakeTracker(name: "of this test") } })
    func hasItsOwnTracker() {
      #expect(Page().tracker.name == "of this test")
    }
  }

  final class Network: Sendable {
    init(tracker: any Tracker) {}
  }

  static func makeRegistry() -> InitializerRegistry {
    let registry = InitializerRegistry()
    registry.register((any Tracker).self, scope: .singleton) { FakeTracker(name: "real") }
    registry.register(Network.self, autowire: Network.init)
    return registry
  }

  @Suite struct RegistrationTests {
    @Test func everythingIsRegistered() {
      #expect(makeRegistry().validate().isEmpty)
    }
  }

  @Suite("Testing", .registry) struct Article {
    @Test("a child registry overrides a program's registrations for one test")
    func child() throws {
      let registry = InitializerRegistry(parent: makeRegistry())
      registry.register((any Tracker).self) { FakeTracker(name: "fake") }
      let page = registry.run { Page() }

      #expect(page.tracker.name == "fake")
    }

    @Test("what was injected is recorded by a hook")
    func recording() async {
      InitializerRegistry.current.register((any Tracker).self) { FakeTracker(name: "fake") }

      await confirmation { injected in
        InitializerRegistry.current.onInjection { value, point in
          if value is any Tracker && point.propertyName == "tracker" { injected() }
        }
        _ = Page().tracker
      }
    }

    @Test("a missing registration is asserted through $")
    func missing() throws {
      let error = try #require(throws: InjectionError.self) { try Page().$tracker.resolve() }
      #expect(error.code == .notRegistered)
    }

    @Test("an object made in a test keeps the test's registry on any thread")
    func threads() async {
      InitializerRegistry.current.register((any Tracker).self) { FakeTracker(name: "fake") }
      let name = await Task { Page().tracker.name }.value
      #expect(name == "fake")
    }
  }
}
