import LaunchInitializers
import Observation
import SpellTesting
import Spellbook
import Testing

#if canImport(XCTest)
  import XCTest
#endif

// Without `: Sendable`, a main-actor protocol isn't Sendable, and registering it with `.onMainActor` doesn't compile.
protocol Greeter: AnyObject, Sendable { func greeting(for name: String) -> String }
final class PoliteGreeter: Greeter { func greeting(for name: String) -> String { "Good day, \(name)" } }

// Without `nonisolated`, the Codable conformance belongs to the main actor, and a preference of this type doesn't
// compile.
nonisolated struct Theme: Codable, Sendable, Equatable {
  var name = "light"
  var contrast = 1
}

nonisolated extension InjectionKeys {
  static let greeter = InjectionKey<any Greeter>(scope: .singleton, .onMainActor { PoliteGreeter() })
  static let visit = InjectionKey(scope: .weak, .onMainActor { Session(user: "visitor") })
  static let cart = InjectionKey(
    .factoryOnMainActor { (resolver, item: String, count: Int) in
      let cart = Cart(session: try resolver.resolve(.session))
      cart.items = Array(repeating: item, count: count)
      return cart
    })
}
nonisolated extension PreferenceKeys {
  static let theme = PreferenceKey("theme", default: Theme())
}

@Observable final class GreetingModel {
  @ObservationIgnored @Preference(.theme) var theme
  @ObservationIgnored @Preference var count = 0
  @ObservationIgnored @Injected var greeter: any Greeter
  @ObservationIgnored @Injected(.visit, .weak) var visit
  @ObservationIgnored @Injected(.cart) var makeCart
  private(set) var text = ""

  func greet(_ name: String) {
    count += 1
    text = greeter.greeting(for: name)
  }
}

final class GreetAtLaunch: Initializable {
  let model: GreetingModel
  init(_ model: GreetingModel) { self.model = model }
  func perform(with configuration: any Configurable) async throws { model.greet("launch") }
}

@Suite("The cures of a main-actor app", .registry, .timeLimit(.minutes(20)))
struct CuresTests {
  var registry: InitializerRegistry { .current }

  @Test("a protocol that is Sendable is registered on the main actor, by type and by key")
  func sendableProtocol() throws {
    registry.register((any Greeter).self, scope: .singleton, .onMainActor { PoliteGreeter() })
    let model = GreetingModel()
    model.greet("Ada")
    #expect(model.text == "Good day, Ada" && model.greeter === GreetingModel().greeter)
    #expect(try registry.resolve(.greeter).greeting(for: "key") == "Good day, key")
  }

  @Test("a nonisolated Codable type is a preference, and a change of a part is observed")
  func nonisolatedCodable() {
    let model = GreetingModel()
    var changes = 0
    withObservationTracking {
      _ = model.theme
    } onChange: {
      MainActor.assumeIsolated { changes += 1 }
    }
    GreetingModel().theme.name = "dark"
    #expect(changes == 1 && model.theme == Theme(name: "dark"))
  }

  @Test("a view model is prepared by a launch step, and tested with what the test registers")
  func launch() async throws {
    registry.register((any Greeter).self, .onMainActor { PoliteGreeter() })
    let model = GreetingModel()
    let launch = try LaunchSequence(configuration: AppConfiguration()) { GreetAtLaunch(model) }
    try await launch.launch()
    #expect(model.text == "Good day, launch" && model.count == 1)
  }

  @Test("a key is held weakly, and makes values from arguments")
  func keys() async throws {
    let model = GreetingModel()
    var visit = model.visit
    #expect(visit?.user == "visitor" && model.visit === visit)
    visit = nil
    #expect(model.visit == nil)
    #expect(try model.makeCart("pear", 2).items == ["pear", "pear"])
    let factory = try registry.resolve(.cart)
    let error = await Task.detached {
      #expect(throws: InjectionError.self) { try factory("plum", 1) }
    }.value
    #expect(error?.code == .wrongIsolation)
    registry.register(.cart, .factory { _, _, _ in throw CancellationError() })
    let failure = #expect(throws: InjectionError.self) { try GreetingModel().makeCart("pear", 2) }
    #expect(failure?.underlying is CancellationError)
    registry.register(
      .cart,
      .factoryOnMainActor { _, fruit, count in
        let cart = Cart(session: Session(user: "test"))
        cart.items = Array(repeating: fruit, count: count + 1)
        return cart
      })
    #expect(try GreetingModel().makeCart("pear", 2).items.count == 3)
    let other = try registry.resolve(.cart)
    let code = await Task.detached { #expect(throws: InjectionError.self) { try other("plum", 1) } }.value?.code
    #expect(code == .wrongIsolation)
  }

  @Test("registers asynchronously, an instance, and a function that opens something")
  func otherForms() async throws {
    registry.register(Session.self, scope: .singleton, .async { await Session(user: "awaited") })
    #expect(try await registry.resolveAsync(Session.self).user == "awaited")
    #expect(try registry.resolve(Session.self).user == "awaited")
    registry.register(.instance(Session(user: "mine")))
    #expect(try registry.resolve(Session.self).user == "mine")
    var opened = 0
    registry.register((@MainActor () -> Void).self, .onMainActor { { opened += 1 } })
    try registry.resolve((@MainActor () -> Void).self)()
    #expect(opened == 1)
  }

  @Test("loads a partial, and calls a method with it")
  func partial() {
    final class Page {
      @Partial(onInjection: Page.didLoad) var theme: Theme
      var loaded = ""
      func didLoad(_ theme: Theme) { loaded = theme.name }
    }
    nonisolated struct Loader: PartialLoader {
      func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
        guard let theme = Theme(name: resource) as? Value else { throw CancellationError() }
        return theme
      }
    }
    registry.register((any PartialLoader).self) { Loader() }
    let page = Page()
    #expect(page.theme.name == "Theme" && page.loaded == "Theme")
  }
}

#if canImport(XCTest)
  nonisolated final class GreetingTestCase: RegistryTestCase {
    @MainActor func testGreets() {
      InitializerRegistry.current.register((any Greeter).self, .onMainActor { PoliteGreeter() })
      let model = GreetingModel()
      model.greet("XCTest")
      XCTAssertEqual(model.text, "Good day, XCTest")
      XCTAssertEqual(model.count, 1)
    }

    @MainActor func testStartsAtZero() async {
      XCTAssertEqual(GreetingModel().count, 0)
    }
  }
#endif
