import Foundation
import SpellTesting
import Spellbook
import TestSupport
import Testing

/// The samples of the article "Testing".
@Suite(.timeLimit(.hang)) enum TestingArticle {
  protocol Tracker: Sendable { var name: String { get } }
  struct FakeTracker: Tracker { let name: String }
  final class Page {
    @Injected var tracker: any Tracker
    @Preference var visits = 0
  }

  @Suite(.registry) struct PageTests {
    @Test func usesTheTracker() {
      let registry = InitializerRegistry.current
      registry.register((any Tracker).self) { FakeTracker(name: "fake") }
      #expect(Page().tracker.name == "fake")
    }

    @Test func countsVisits() throws {
      Page().visits += 1
      let store = try InitializerRegistry.current.resolve((any PreferenceStore).self)
      #expect(try store.value(Int.self, forKey: "visits") == 1)
    }
  }

  @Suite(
    .registry {
      $0.register((any Tracker).self) { FakeTracker(name: "shared") }
    })
  struct MorePageTests {
    @Test(arguments: 1...3) func hasATracker(_ number: Int) {
      #expect(Page().tracker.name == "shared")
    }

    @Test(
      .registry {
        $0.register((any Tracker).self) { FakeTracker(name: "own") }
      })
    func hasItsOwnTracker() {
      #expect(Page().tracker.name == "own")
    }
  }

  final class Network: Sendable {
    let tracker: any Tracker
    init(tracker: any Tracker) { self.tracker = tracker }
  }
  final class Session: Sendable {}

  static func registerServices(in registry: InitializerRegistry) {
    registry.register((any Tracker).self, scope: .singleton) { FakeTracker(name: "real") }
    registry.register(Network.self, scope: .singleton, .autowire(Network.init))
    registry.register(Session.self, scope: .singleton.expiring(after: .seconds(3600))) { Session() }
  }

  @Suite(.registry { registerServices(in: $0) }) struct ProgramTests {
    @Test func everythingIsRegistered() {
      let registry = InitializerRegistry()
      registerServices(in: registry)
      #expect(registry.validate().isEmpty)
    }

    @Test(
      .registry {
        $0.register((any Tracker).self) { FakeTracker(name: "fake") }
      })
    func theNetworkUsesTheTracker() throws {
      let network = try InitializerRegistry.current.resolve(Network.self)
      #expect(network.tracker.name == "fake")
    }
  }

  static func newFile() -> URL { URL.temporaryDirectory.appending(path: "\(UUID().uuidString)/visits.preferences") }

  @Suite(.preferences(["visits": 41])) struct VisitTests {
    @Test func goOn() {
      let page = Page()
      page.visits += 1
      #expect(page.visits == 42)
    }

    @Test(.preferences(try FilePreferenceStore(url: newFile())))
    func areKeptInAFile() throws {
      Page().visits += 1
      #expect(Page().visits == 1)
    }
  }

  @Suite(.registry(clock: TestClock()) { registerServices(in: $0) }) struct SessionTests {
    let registry = InitializerRegistry.current
    let clock: TestClock
    init() throws { clock = try InitializerRegistry.current.resolve() }

    @Test func endsAfterAnHour() throws {
      let session = try registry.resolve(Session.self)
      clock.advance(by: .seconds(3599))
      #expect(try registry.resolve(Session.self) === session)
      clock.advance(by: .seconds(1))
      #expect(try registry.resolve(Session.self) !== session)
    }
  }

  static func registerStore(in registry: InitializerRegistry) {
    registry.register((any PreferenceStore).self, scope: .singleton) {
      try FilePreferenceStore(url: newFile())
    }
  }

  @Suite(.registry { registerStore(in: $0) }, .preferences([:])) struct StoreTests {
    @Test func isInMemory() throws {
      let store = try InitializerRegistry.current.resolve((any PreferenceStore).self)
      #expect(store is MemoryPreferenceStore)
    }
  }

  #if os(macOS) || os(Linux)
    @Suite(.registry) struct ExitTests {
      @Test func stopsWithoutATracker() async {
        await #expect(processExitsWith: .failure) {
          let registry = InitializerRegistry(context: .test)
          registry.register((any PreferenceStore).self, scope: .singleton) {
            MemoryPreferenceStore()
          }
          registry.run { _ = Page().tracker }
        }
      }
    }
  #endif

  @Suite("A custom preference store") struct DictionaryStoreTests {
    @Test(arguments: PreferenceStoreSuite.checks)
    func keepsTheContract(check: PreferenceStoreSuite.Check) async {
      await check.run { DictionaryStore() }
    }
  }

  @Suite("Testing", .registry) struct Article {
    @Test("a recorder records what was injected")
    func recording() {
      InitializerRegistry.current.register((any Tracker).self) { FakeTracker(name: "fake") }

      let recorder = InjectionRecorder()
      let page = Page()
      _ = (page.tracker, page.tracker)

      #expect(recorder.count(of: (any Tracker).self) == 1)
      let injections = recorder.injections(into: Page.self, named: "tracker")
      #expect(injections.count == 1)
      #expect(recorder.description == "1. FakeTracker into Page.tracker: any Tracker")
    }

    @Test("a hook is called for an injection")
    func hook() async {
      InitializerRegistry.current.register((any Tracker).self) { FakeTracker(name: "fake") }

      await confirmation { injected in
        InitializerRegistry.current.onInjection { value, point in
          guard value is any Tracker else { return }
          if point.propertyName == "tracker" { injected() }
        }
        _ = Page().tracker
      }
    }

    @Test("a sleep on a test clock ends when the test advances the clock")
    func time() async throws {
      let clock = TestClock()
      let reminder = Task {
        try await clock.sleep(for: .seconds(180))
        return "tea"
      }

      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(180))
      #expect(try await reminder.value == "tea")
    }

    @Test("the time of a test follows its clock once it is registered so")
    func timeNow() throws {
      let (clock, registry) = (TestClock(), InitializerRegistry.current)
      let start = try registry.resolve(.now)()
      registry.register(.now) {
        { start.addingTimeInterval(clock.now.offset / .seconds(1)) }
      }
      clock.advance(by: .seconds(90))
      #expect(try registry.resolve(.now)() == start.addingTimeInterval(90))
    }

    @Test("the projected value throws for a missing registration")
    func missing() throws {
      let error = try #require(throws: InjectionError.self) { try Page().$tracker.resolve() }
      #expect(error.code == .notRegistered)
    }

    @Test("a detached task and a queue have the registry that runs their work")
    func elsewhere() async {
      InitializerRegistry.current.register((any Tracker).self) { FakeTracker(name: "fake") }

      let registry = InitializerRegistry.current
      let name = await Task.detached {
        registry.run { Page().tracker.name }
      }.value
      #expect(name == "fake")

      let other = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          let name = registry.run { Page().tracker.name }
          continuation.resume(returning: name)
        }
      }
      #expect(other == "fake")
    }

    @Test("an object that a test's task creates asks the test's registry")
    func threads() async {
      InitializerRegistry.current.register((any Tracker).self) { FakeTracker(name: "fake") }
      let name = await Task { Page().tracker.name }.value
      #expect(name == "fake")
    }
  }
}
