import SpellDiagnostics
import Spellbook
import Testing

@Suite("validate() finds what only a run or a second registration shows") struct RecordedMistakesTests {
  struct Session: Sendable { var user = "" }
  struct Cart: Sendable { let session: Session }
  struct Shop: Sendable { let cart: Cart }
  struct ShopWithFactory: Sendable { let makeCart: ArgumentFactory<Cart, String> }

  let registry = InitializerRegistry()

  @Test("a kept value whose closure holds a shorter-lived one is reported once the closure has been recorded")
  func captive() throws {
    let cache = ScopeCache("session")
    registry.register(scope: .cached(in: cache)) { Session() }
    registry.register { Cart(session: try $0.resolve()) }
    registry.register(scope: .singleton) { Shop(cart: try $0.resolve()) }
    #expect(registry.validate().isEmpty)
    _ = try registry.graph { try registry.resolve(Shop.self) }
    let error = try #require(registry.validate().first)
    #expect(registry.validate().count == 1 && error.code == .scopeCapture)
    #expect(error.path == ["Shop", "Cart", "Session"])
    #expect(error.description.contains("let current = Injected<RecordedMistakesTests.Session>(.everyRead)"), "\(error)")
    #expect(registry.graph().edges.isEmpty)
  }

  @Test("a kept value that holds a factory isn't taken for a holder of what the factory's closure asks for")
  func factory() throws {
    registry.register(scope: .cached(in: ScopeCache("session"))) { Session() }
    registry.register(.factory { (resolver, _: String) in Cart(session: try resolver.resolve()) })
    registry.register(ShopWithFactory.self, scope: .singleton) { ShopWithFactory(makeCart: try $0.resolve()) }
    _ = try registry.graph { try registry.resolve(ShopWithFactory.self).makeCart("guest") }
    #expect(registry.validate().isEmpty)
  }

  @Test("a value that is held beside a factory that asks for it is reported", arguments: [true, false])
  func besideAFactory(isFactoryFirst: Bool) throws {
    registry.register(scope: .cached(in: ScopeCache("session"))) { Session() }
    registry.register { Cart(session: try $0.resolve()) }
    registry.register(.factory { (resolver, _: String) in Cart(session: try resolver.resolve()) })
    registry.register(ShopWithFactory.self, scope: .singleton) { resolver in
      if !isFactoryFirst { _ = try resolver.resolve(Cart.self) }
      let shop = ShopWithFactory(makeCart: try resolver.resolve())
      if isFactoryFirst { _ = try resolver.resolve(Cart.self) }
      return shop
    }
    _ = try registry.graph { try registry.resolve(ShopWithFactory.self).makeCart("guest") }
    #expect(registry.validate().map(\.path) == [["ShopWithFactory", "Cart", "Session"]])
  }

  @Test("a child's override of what a parent's closure holds is reported")
  func override() throws {
    registry.register { Session(user: "live") }
    registry.register(scope: .singleton) { Shop(cart: Cart(session: try $0.resolve())) }
    let child = registry.child { $0.register { Session(user: "child") } }
    _ = try child.graph { try child.resolve(Shop.self) }
    let error = try #require(child.validate().first)
    #expect(child.validate().count == 1 && error.code == .scopeCapture && error.path == ["Shop", "Session"])
    #expect(error.description.contains("child.register(RecordedMistakesTests.Shop.self, scope: …)"), "\(error)")
    #expect(registry.validate().isEmpty)
  }

  @Test("what was asked for by name, what was withdrawn and what is shared as long isn't reported")
  func right() throws {
    registry.register(named: "guest") { Session(user: "guest") }
    registry.register(scope: .singleton) { Cart(session: try $0.resolve(named: "guest")) }
    registry.register(scope: .singleton) { Shop(cart: try $0.resolve()) }
    let child = registry.child { $0.register { Session(user: "child") } }
    _ = try child.graph { try child.resolve(Shop.self) }
    #expect(child.validate().isEmpty)
    let session = registry.register(scope: .cached(in: ScopeCache("session"))) { Session() }
    registry.register(Int.self, scope: .singleton) { try $0.resolve(Session.self).user.count }
    _ = try registry.graph { try registry.resolve(Int.self) }
    #expect(registry.validate().map(\.code) == [.scopeCapture])
    session.unregister()
    #expect(registry.validate().isEmpty)
  }

  @Test("a type that is registered at two places is reported, but for tests, previews and one place that runs twice")
  func twice() throws {
    func register(in registry: InitializerRegistry) { registry.register { Session(user: "again") } }
    register(in: registry)
    register(in: registry)
    #expect(registry.validate().isEmpty)
    registry.register { Session(user: "other") }
    let error = try #require(registry.validate().first)
    #expect(registry.validate().count == 1 && error.code == .shadowed)
    #expect(error.description.hasPrefix("Session is registered twice: the registration at SpellDiagnosticsTests/"))
    #expect(registry.child { $0.register { Session(user: "child") } }.validate().count == 1)
    for context in [InjectionContext.test, .preview] {
      let registry = InitializerRegistry(context: context)
      register(in: registry)
      registry.register { Session(user: "fake") }
      #expect(registry.validate().isEmpty)
    }
  }

  @Test("a preference store of which each property would get its own is reported, with the scope to write")
  func stores() throws {
    let registration = registry.register((any PreferenceStore).self) { MemoryPreferenceStore() }
    let error = try #require(registry.validate().first)
    #expect(registry.validate().count == 1 && error.code == .notShared)
    #expect(error.description.contains("registry.register((any PreferenceStore).self, scope: .singleton) { … }"))
    registration.unregister()
    registry.register((any PreferenceStore).self, scope: .singleton) { MemoryPreferenceStore() }
    registry.register(MemoryPreferenceStore.self) { MemoryPreferenceStore() }
    #expect(registry.validate().isEmpty)
    #expect(
      registry.child { $0.register(.instance(MemoryPreferenceStore() as any PreferenceStore)) }.validate().isEmpty)
  }
}
