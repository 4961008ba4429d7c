// Built with the main actor as the default isolation, as the module of a new app in Xcode is.
import SpellTesting
import Spellbook
import Testing

protocol Weather: Sendable { func forecast() async -> String }
nonisolated struct Sunshine: Weather { func forecast() async -> String { "sunny" } }

final class Session {
  let user: String
  init(user: String = "guest") { self.user = user }
}
final class Cart {
  let session: Session
  var items: [String] = []
  init(session: Session) { self.session = session }
}

nonisolated extension InjectionKeys {
  static let weather = InjectionKey<any Weather>(scope: .singleton) { Sunshine() }
  static let session = InjectionKey(scope: .singleton, .onMainActor { Session(user: "Ada") })
    .test(.onMainActor { Session(user: "tester") })
    .preview(.onMainActor { Session(user: "previewer") })
}

final class Screen {
  @Injected var cart: Cart
  @Injected(.weather) var weather
  @Injected(.session, onInjection: Screen.didGet) var session
  @Lazy(onInjection: Screen.didMake) var rows = ["header"]
  @Final var title: String
  @Preference var visits = 0
  var heard: [String] = []

  init(title: String) { self.title = title }
  func didGet(_ session: Session) { heard.append(session.user) }
  func didMake(_ rows: [String]) { heard += rows }
}

struct Row {
  @Injected(.session) var session
  @Lazy var label = "row"
}

@Suite("An app whose default isolation is the main actor", .registry, .timeLimit(.minutes(20)))
struct MainActorAppTests {
  var registry: InitializerRegistry { .current }

  @Test("registers and injects its own classes, and uses every wrapper unchanged")
  func everything() async throws {
    registry.register(scope: .singleton, .onMainActor { Session() })
    registry.register(.autowireOnMainActor(Cart.init))
    let screen = Screen(title: "Home")
    #expect(screen.cart.session.user == "guest")
    #expect(await screen.weather.forecast() == "sunny")
    #expect(screen.session.user == "tester")
    #expect(screen.rows == ["header"])
    #expect(screen.heard == ["tester", "header"])
    #expect(screen.title == "Home")
    screen.visits += 1
    #expect(Screen(title: "").visits == 1)
    #expect(Row().session === screen.session)
    #expect(registry.validate().isEmpty)
    #expect(registry.graph().edges.map(\.to) == ["Session"])
  }

  @Test("registers for a class of containers, with arguments, and with hooks")
  func forms() throws {
    registry.register(.onMainActor { Session() })
    registry.register(
      Cart.self,
      .onMainActor(in: Screen.self) { screen, resolver in
        let cart = Cart(session: try resolver.resolve())
        cart.items = [screen.title]
        return cart
      })
    #expect(Screen(title: "Home").cart.items == ["Home"])
    registry.register(ArgumentFactory<Session, String>.self, .factoryOnMainActor { _, user in Session(user: user) })
    #expect(try registry.resolve(Session.self, arguments: "Bob").user == "Bob")
    var heard: [String] = []
    registry.register(.session, .onMainActor { Session(user: "own") })
      .onInjectionOnMainActor { session, _ in heard.append(session.user) }
    #expect(Row().session.user == "own")
    #expect(heard == ["own"])
  }

  @Test("has other values in a preview")
  func preview() throws {
    #expect(try InitializerRegistry(context: .preview).resolve(.session).user == "previewer")
    #expect(try InitializerRegistry().resolve(.session).user == "Ada")
  }

  @Test("is reached from a background task by awaiting, with what it needs in between")
  func background() async throws {
    let registry = registry
    registry.register(.onMainActor { Session() })
    registry.register(.autowireOnMainActor(Cart.init))
    registry.register(Envelope.self) { Envelope(cart: try $0.resolve()) }
    let user = try await Task.detached { try await registry.resolveAsync(Envelope.self).cart.session.user }.value
    #expect(user == "guest")
    #expect(try await Task.detached { try await registry.resolveAsync(.session).user }.value == "tester")
  }

  @Test("fills the properties of an object that exists")
  func filling() throws {
    registry.register(.onMainActor { Session() })
    registry.register(.autowireOnMainActor(Cart.init))
    let screen = Screen(title: "Home")
    try registry.inject(into: screen, \.$cart, \.$session)
    #expect(screen.$cart.hasValue && screen.heard == ["tester"])
    let box = ServiceBox()
    box.register(Cart(session: Session(user: "boxed")), named: "cart")
    box.fill(screen, \.$cart)
    #expect(screen.cart.session.user == "boxed")
  }
}

/// A nonisolated type that contains an object of the main actor.
nonisolated struct Envelope: Sendable { let cart: Cart }
