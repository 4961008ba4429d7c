#if canImport(XCTest)
  import Spellbook
  import XCTest

  // The samples of the article "Testing with XCTest" for a module whose default isolation is the main actor.

  protocol Tracker: Sendable { var name: String { get } }
  struct FakeTracker: Tracker { let name: String }
  final class Profile {
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

  final class ProfileTestCase: RegistryTestCase {
    @MainActor private var profile: Profile!

    @MainActor override func setUp() async throws {
      let registry = InitializerRegistry.current
      registry.register(
        (any Tracker).self,
        .onMainActor {
          FakeTracker(name: "fake")
        })
      profile = Profile()
    }

    @MainActor func testUsesTheTracker() async {
      XCTAssertEqual(profile.tracker.name, "fake")
    }

    @MainActor func testCountsVisits() async {
      profile.visits += 1
      XCTAssertEqual(profile.visits, 1)
    }
  }
#endif
