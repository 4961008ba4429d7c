import SpellTesting
import Spellbook
import Testing

/// The samples of the article of this name.
@Suite("Concurrency", .registry) struct Concurrency {
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
    registry.registerOnMainActor(Window.self) { _ in Window(title: "main") }

    #expect(try registry.resolve(Window.self).title == "main")
  }

  @Test("what takes time is awaited once, then there for every reader")
  func asynchronous() async throws {
    final class Page { @Injected var cache: Cache }
    registry.registerAsync(Cache.self, scope: .singleton) { _ in
      await Task.yield()
      return Cache()
    }
    let cache = try await registry.resolveAsync(Cache.self)

    #expect(Page().cache === cache)
  }
}
