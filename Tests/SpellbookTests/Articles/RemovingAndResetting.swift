import SpellTesting
import Spellbook
import Synchronization
import Testing

/// The code samples of the article with this name.
@Suite("Removing and resetting", .registry) struct RemovingAndResetting {
  let registry = InitializerRegistry.current

  struct Theme: Sendable { var name: String }
  final class Page {
    @Injected var theme: Theme
  }
  final class Basket: Sendable {}
  final class Token: Sendable {}

  @Test("a withdrawn registration is gone, and a property keeps the value that it got from it")
  func unregister() {
    let registration = registry.register(Theme.self, scope: .singleton) {
      Theme(name: "dark")
    }
    let page = Page()
    #expect(page.theme.name == "dark")

    registration.unregister()
    #expect(page.theme.name == "dark")
    #expect(throws: InjectionError.self) {
      try registry.resolve(Theme.self)
    }
  }

  @Test("a child registry overrides a registration for a while")
  func child() {
    registry.register(Theme.self) { Theme(name: "dark") }
    let preview = InitializerRegistry(parent: registry)
    preview.register(Theme.self) { Theme(name: "light") }

    #expect(preview.run { Page().theme.name } == "light")
    #expect(Page().theme.name == "dark")
  }

  @Test("removing all registrations leaves the parent's")
  func removeAll() throws {
    registry.register(Theme.self) { Theme(name: "dark") }
    let preview = InitializerRegistry(parent: registry)
    preview.register(Theme.self) { Theme(name: "light") }
    preview.removeAll()
    #expect(try preview.resolve(Theme.self).name == "dark")
  }

  @Test("a hook closes what is kept when the registry ends")
  func closing() throws {
    final class Connection: Sendable {
      let isOpen = Mutex(true)
      func close() { isOpen.withLock { $0 = false } }
    }
    let connection: Connection
    do {
      let registry = InitializerRegistry()
      registry.register(Connection.self, scope: .singleton) { Connection() }
        .onRemoval { connection in connection.close() }
      connection = try registry.resolve()
      #expect(connection.isOpen.withLock { $0 })
    }
    #expect(!connection.isOpen.withLock { $0 })
  }

  @Test("resetting a cache leaves the values that properties have")
  func cache() {
    let login = ScopeCache("login")
    registry.register(Basket.self, scope: .cached(in: login)) { Basket() }

    final class Shop {
      @Injected var basket: Basket
      @Injected(.everyRead) var current: Basket
    }
    let shop = Shop()
    let old = shop.basket
    login.reset()
    #expect(shop.basket === old)
    #expect(shop.current !== old)

    shop.$basket.reset()
    #expect(shop.basket === shop.current)
  }

  @Test("the properties of a key take its new value, and so do those of a cache that is reset")
  func reinjectedKey() {
    final class Reader {
      @Injected(.feed) var feed
      @Injected var basket: Basket
    }
    let login = ScopeCache("login")
    registry.register(Basket.self, scope: .cached(in: login)) { Basket() }
    let reader = Reader()
    #expect(reader.feed.name == "old")
    registry.register(.feed) { Theme(name: "new") }
    #expect(reader.feed.name == "old")

    registry.reinject(.feed)
    #expect(reader.feed.name == "new")

    let basket = reader.basket
    login.reset()
    #expect(reader.basket === basket)
    registry.reinject(Basket.self)
    #expect(reader.basket !== basket)
  }

  @Test("a value that is too old is replaced when it is asked for")
  func age() throws {
    let clock = TestClock()
    let registry = InitializerRegistry(clock: clock)
    registry.register(
      Token.self, scope: .singleton.expiring(after: .seconds(60))
    ) { Token() }

    let token = try registry.resolve(Token.self)
    clock.advance(by: .seconds(59))
    #expect(try registry.resolve(Token.self) === token)
    clock.advance(by: .seconds(1))
    #expect(try registry.resolve(Token.self) !== token)
  }

  @Test("re-injecting a type reaches its properties at their next reads")
  func reinject() {
    registry.register(Theme.self) { Theme(name: "dark") }
    let page = Page()
    #expect(page.theme.name == "dark")

    registry.register(Theme.self) { Theme(name: "light") }
    #expect(page.theme.name == "dark")
    registry.reinject(Theme.self)
    #expect(page.theme.name == "light")

    registry.register(Theme.self) { Theme(name: "blue") }
    page.$theme.reset()
    #expect(page.theme.name == "blue")
  }
}

extension InjectionKeys {
  fileprivate static let feed = InjectionKey<RemovingAndResetting.Theme> { RemovingAndResetting.Theme(name: "old") }
}
