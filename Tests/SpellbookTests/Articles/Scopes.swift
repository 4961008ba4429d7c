import SpellTesting
import Spellbook
import Testing

/// The code samples of the article with this name.
@Suite("Scopes", .registry) struct Scopes {
  let registry = InitializerRegistry.current

  final class Context: Sendable {}
  final class Reader: Sendable {
    let context: Context
    init(context: Context) { self.context = context }
  }
  final class Writer: Sendable {
    let context: Context
    init(context: Context) { self.context = context }
  }
  final class Session: Sendable {
    let reader: Reader
    let writer: Writer
    init(reader: Reader, writer: Writer) {
      self.reader = reader
      self.writer = writer
    }
  }

  private func registerGraph() {
    registry.register(Context.self, scope: .graph) { Context() }
    registry.register(Reader.self, .autowire(Reader.init))
    registry.register(Writer.self, .autowire(Writer.init))
    registry.register(Session.self, .autowire(Session.init))
  }

  @Test("initializers that run for one resolution share a graph value")
  func resolution() throws {
    registry.register(Context.self, scope: .graph) { Context() }
    registry.register(Reader.self, .autowire(Reader.init))
    registry.register(Writer.self, .autowire(Writer.init))
    registry.register(Session.self, .autowire(Session.init))

    let session = try registry.resolve(Session.self)
    #expect(session.reader.context === session.writer.context)
  }

  @Test("two properties of one object don't share a graph value")
  func properties() {
    registerGraph()

    final class Editor {
      @Injected var reader: Reader
      @Injected var writer: Writer
    }
    let editor = Editor()
    #expect(editor.reader.context !== editor.writer.context)
  }

  @Test("two properties of one object share a cached value")
  func cachedInDocument() {
    final class Editor {
      @Injected var reader: Reader
      @Injected var writer: Writer
    }
    registerGraph()

    let editor = Editor()
    let document = ScopeCache("document")
    registry.register(Context.self, scope: .cached(in: document)) {
      Context()
    }
    #expect(editor.reader.context === editor.writer.context)
    document.reset()

    #expect(Editor().reader.context !== editor.reader.context)
  }

  @Test("a singleton keeps the graph value of the resolution that creates it")
  func singleton() throws {
    registerGraph()
    registry.register(Reader.self, scope: .singleton, .autowire(Reader.init))
    let session = try registry.resolve(Session.self)
    #expect(session.reader.context === session.writer.context)
    let later = try registry.resolve(Session.self)
    #expect(later.reader.context === session.reader.context)
    #expect(later.writer.context !== session.reader.context)
  }

  final class Basket: Sendable {}
  final class Profile: Sendable {}

  private func registerServices(in registry: InitializerRegistry) {
    let login = ScopeCache("login")
    registry.register(.instance(login))
    registry.register(Basket.self, scope: .cached(in: login)) { Basket() }
    registry.register(.profile, scope: .cached(in: login)) { Profile() }
  }

  @Test("each registry has its own cache, which its keys use too")
  func cacheOfARegistry() throws {
    let other = InitializerRegistry()
    registerServices(in: registry)
    registerServices(in: other)
    let (basket, profile) = (try registry.resolve(Basket.self), try registry.resolve(.profile))
    try other.resolve(ScopeCache.self).reset()
    #expect(try registry.resolve(Basket.self) === basket)
    #expect(try registry.resolve(.profile) === profile)

    try registry.resolve(ScopeCache.self).reset()

    #expect(try registry.resolve(Basket.self) !== basket)
    #expect(try registry.resolve(.profile) !== profile)
  }

  @Test("resetting a cache drops the values of all its registrations")
  func cache() throws {
    let login = ScopeCache("login")
    registry.register(Basket.self, scope: .cached(in: login)) { Basket() }
    registry.register(Profile.self, scope: .cached(in: login)) { Profile() }

    let basket = try registry.resolve(Basket.self)
    #expect(try registry.resolve(Basket.self) === basket)

    let profile = try registry.resolve(Profile.self)
    login.reset()
    #expect(try registry.resolve(Basket.self) !== basket)
    #expect(try registry.resolve(Profile.self) !== profile)
  }
}

extension InjectionKeys {
  fileprivate static let profile = InjectionKey<Scopes.Profile> { Scopes.Profile() }
}
