#if canImport(XCTest)
  import Spellbook
  import XCTest

  // The code samples of the article with this name.

  protocol Tracker: Sendable { var name: String { get } }
  struct FakeTracker: Tracker { let name: String }
  final class Page {
    @Injected var tracker: any Tracker
    @Preference var visits = 0
  }

  nonisolated class RegistryTestCase: XCTestCase {
    /// Registers what all tests of the class need.
    func configure(_ registry: InitializerRegistry) {}

    override func invokeTest() {
      let registry = InitializerRegistry(context: .test)
      registry.register(
        .instance(MemoryPreferenceStore() as any PreferenceStore))
      configure(registry)
      registry.run { super.invokeTest() }
    }
  }

  final class PageTestCase: RegistryTestCase {
    override func configure(_ registry: InitializerRegistry) {
      registry.register((any Tracker).self) { FakeTracker(name: "fake") }
    }

    func testUsesTheTracker() {
      XCTAssertEqual(Page().tracker.name, "fake")
    }

    func testOverridesTheTracker() {
      let registry = InitializerRegistry.current
      registry.register((any Tracker).self) { FakeTracker(name: "mine") }
      XCTAssertEqual(Page().tracker.name, "mine")
    }

    func testKeepsItsRegistryInTasks() async {
      let name = await Task { Page().tracker.name }.value
      XCTAssertEqual(name, "fake")
    }

    func testCountsVisits() {
      Page().visits += 1
      XCTAssertEqual(Page().visits, 1)
    }
  }

  final class SetUpTestCase: RegistryTestCase {
    // let page = Page()      This would ask the shared registry.
    var page: Page!

    override func setUp() { page = Page() }

    func testStartsWithoutVisits() {
      XCTAssertEqual(page.visits, 0)
    }
  }
#endif
