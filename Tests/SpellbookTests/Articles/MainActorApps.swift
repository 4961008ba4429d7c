import SpellTesting
import Spellbook
import Testing

@MainActor final class Loader {
  let title: String
  init(title: String = "loaded") { self.title = title }
}
@MainActor final class Store {
  let loader: Loader
  init(loader: Loader) { self.loader = loader }
}

nonisolated extension InjectionKeys {
  static let loader = InjectionKey.onMainActor(scope: .singleton) {
    Loader(title: "key")
  }
}

/// The samples of the article of this name.
@MainActor @Suite("Main-actor apps", .registry) struct MainActorApps {
  let registry = InitializerRegistry.current

  @MainActor final class Model {
    let title = "Inbox"
    @Injected var loader: Loader
    @Injected var store: Store
    @Lazy(onInjection: Model.didMake) var tags = ["new"]
    @Preference var count = 0
    var made: [String] = []

    func didMake(_ tags: [String]) { made += tags }
  }

  private func registerAll() {
    registry.registerOnMainActor { Loader() }
    registry.registerOnMainActor(scope: .singleton, autowire: Store.init)
    registry.registerOnMainActor(Loader.self, in: Model.self) { model in
      Loader(title: model.title)
    }
  }

  @Test("a main-actor class is registered and injected, alone, autowired and for a class")
  func registering() throws {
    registerAll()
    let model = Model()
    #expect(model.loader.title == "Inbox")
    #expect(model.store.loader.title == "loaded")
    #expect(model.store === Model().store)
    #expect(model.tags == ["new"])
    #expect(model.made == ["new"])
    model.count += 1
    #expect(Model().count == 1)
  }

  @Test("a main-actor value is awaited from elsewhere")
  func elsewhere() async throws {
    registerAll()

    let registry = registry
    let store = try await Task.detached {
      try await registry.resolveAsync(Store.self)
    }.value
    #expect(store === Model().store)
  }

  @Test("a main-actor value that isn't there can't be resolved from elsewhere")
  func wrongIsolation() async {
    registerAll()
    let registry = registry
    let code = await Task.detached { () -> InjectionError.Code? in
      do throws(InjectionError) { _ = try registry.resolve(Loader.self) } catch { return error.code }
      return nil
    }.value
    #expect(code == .wrongIsolation)
  }

  @Test("a key has a main-actor initializer, and can be registered on the main actor")
  func keys() throws {
    #expect(try registry.resolve(.loader).title == "key")

    registry.registerOnMainActor(.loader) { Loader(title: "mine") }
    #expect(try registry.resolve(.loader).title == "mine")
  }

  @Test("a registration's hook runs on the main actor")
  func hooks() {
    var titles: [String] = []

    registry.registerOnMainActor { Loader(title: "any") }
      .onInjectionOnMainActor { loader, _ in titles.append(loader.title) }

    #expect(Model().loader.title == "any")
    #expect(titles == ["any"])
  }
}
