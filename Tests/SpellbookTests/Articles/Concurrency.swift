import SpellTesting
import Spellbook
import TestSupport
import Testing

/// The code samples of the article with this name.
@Suite("Concurrency", .registry, .timeLimit(.hang)) struct Concurrency {
  let registry = InitializerRegistry.current

  final class Cache: Sendable {}

  class Screen {
    @Lazy var cache = Cache()
  }
  actor Worker {
    @Lazy var cache = Cache()
    func first() -> Cache { cache }
  }
  @MainActor final class Model {
    @Lazy var cache = Cache()
  }
  struct Options {
    @Lazy var cache = Cache()
  }

  @Test("wrappers live in classes, actors, main-actor classes and structs")
  @MainActor func homes() async {
    #expect(Screen().cache !== Screen().cache)
    let worker = Worker()
    #expect(await worker.first() === worker.first())
    let model = Model()
    #expect(model.cache === model.cache)
    let options = Options()
    #expect(options.cache === options.cache)
  }

  final class Service: Sendable {
    let cache = LazyConstant { Cache() }
  }

  @Test("a first read by many threads makes one value")
  func firstRead() async {
    let service = Service()
    let seen = await withTaskGroup(of: ObjectIdentifier.self) { group in
      for _ in 0..<100 { group.addTask { ObjectIdentifier(service.cache.value) } }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(seen.count == 1)
  }

  @MainActor final class Window {
    let title: String
    init(title: String) { self.title = title }
  }

  @Test("what belongs to the main actor is made there")
  @MainActor func mainActor() throws {
    registry.register(Window.self, .onMainActor { Window(title: "main") })

    #expect(try registry.resolve(Window.self).title == "main")
  }

  @Test("what takes time is awaited once, then there for every reader")
  func asynchronous() async throws {
    final class Page { @Injected var cache: Cache }
    registry.register(
      Cache.self, scope: .singleton,
      .async {
        await Task.yield()
        return Cache()
      })
    let cache = try await registry.resolveAsync(Cache.self)

    #expect(Page().cache === cache)
  }

  final class Index: Sendable {
    let cache: Cache
    init(cache: Cache) { self.cache = cache }
  }

  @Test("an async initializer asks its resolver")
  func resolver() async throws {
    registry.register(Cache.self, scope: .singleton, .async { Cache() })
    registry.register(
      Index.self, scope: .singleton,
      .async { resolver in
        Index(cache: try await resolver.resolveAsync(Cache.self))
      })
    #expect(try await registry.resolveAsync(Index.self).cache === registry.resolve(Cache.self))
  }

  @MainActor final class Display {
    @Injected var cache: Cache
  }

  @Test("an object of an actor is filled by its properties' names")
  @MainActor func filling() throws {
    registry.register { Cache() }
    let screen = Display()
    try registry.inject(into: screen, \.$cache)
    #expect(screen.$cache.hasValue)
  }

  @Test("a protocol with and without Sendable is one type at run time")
  func markers() throws {
    registry.register((any Label).self) { PlainLabel() }
    #expect(try registry.resolve((any Label & Sendable).self) is PlainLabel)
    registry.register((any Meter).self) { PlainMeter() }
    #expect(try registry.resolve((any Meter).self).increment() == 1)
  }
}

private protocol Label: AnyObject {}
private final class PlainLabel: Label { var text = "" }

protocol Meter: Sendable {
  func increment() -> Int
}
private struct PlainMeter: Meter { func increment() -> Int { 1 } }
