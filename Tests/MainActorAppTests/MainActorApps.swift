import LaunchInitializers
import Observation
import SpellTesting
import Spellbook
import Synchronization
import Testing

// The code samples of the article with this name. The module's default isolation is the main actor.

protocol Forecast: Sendable {
  func summary() -> String
}
final class LiveForecast: Forecast {
  func summary() -> String { "sunny" }
}
nonisolated struct Look: Codable, Equatable {
  var name = "light"
}

@Observable final class Dashboard {
  @ObservationIgnored @Injected var forecast: any Forecast
  @ObservationIgnored @Preference var look = Look()
  @ObservationIgnored @Lazy(onInjection: Dashboard.didMake)
  var tags = ["new"]
  var title = "Today"

  func didMake(_ tags: [String]) { title += ": \(tags.count)" }
}

final class ForecastInitializer: ServiceInitializer {
  func makeService(
    with configuration: any Configurable
  ) async throws -> any Forecast {
    LiveForecast()
  }
}

struct AppConfiguration: Configurable {
  var serviceStorage: ServiceStorage { [:] }
  func currentStage() -> ReleaseStage { .test }
  static func defaultConfiguration() -> AppConfiguration {
    AppConfiguration()
  }
}

final class Loader {
  let title: String
  init(title: String = "loaded") { self.title = title }
}
final class LoaderStore {
  let loader: Loader
  init(loader: Loader) { self.loader = loader }
}
final class Inbox {
  let title = "Inbox"
  @Injected var loader: Loader
  @Injected var store: LoaderStore
}

nonisolated final class Draft {
  var text = ""
}
final class Editor {
  let draft: Draft
  init(draft: Draft) { self.draft = draft }
}
nonisolated extension InjectionKeys {
  static let makeEditor = InjectionKey<@MainActor (Draft) -> Editor> {
    { draft in Editor(draft: draft) }
  }
}
final class DraftPage {
  let draft = Draft()
  @Injected(.makeEditor) var makeEditor
  func edit() -> Editor { makeEditor(draft) }
}

nonisolated func registerServices(in registry: InitializerRegistry) {
  registry.register((any Forecast).self, .onMainActor { LiveForecast() })
}

final class FolderLoader: PartialLoader {
  func load<Value>(_ type: Value.Type, named name: String) throws
    -> Value
  {
    throw SkipInitializer("no \(name)")
  }
}
/// A class without a declared initializer, which can be created on any actor.
final class Blank {
  var text = ""
}

nonisolated extension InjectionKeys {
  static let loader = InjectionKey(
    scope: .singleton,
    .onMainActor {
      Loader(title: "key")
    })
}

final class FakeForecast: Forecast {
  func summary() -> String { "rain" }
}

@Suite(.registry) struct DashboardTests {
  @Test func showsTheForecast() {
    let registry = InitializerRegistry.current
    registry.register(
      (any Forecast).self,
      .onMainActor {
        FakeForecast()
      })
    let dashboard = Dashboard()
    #expect(dashboard.forecast.summary() == "rain")
    dashboard.look.name = "dark"
    #expect(Dashboard().look.name == "dark")
  }
}

@Suite(.registry { registerServices(in: $0) }) struct ProgramTests {
  @Test func showsTheForecast() {
    #expect(Dashboard().forecast.summary() == "sunny")
  }
}

@Suite("Main-actor apps", .registry, .timeLimit(.minutes(20))) struct MainActorApps {
  let registry = InitializerRegistry.current

  @Test("a key's function of the main actor takes an argument that isn't Sendable")
  func makesAnEditor() {
    registry.register(.makeEditor) { { Editor(draft: $0) } }
    let page = DraftPage()
    #expect(page.edit().draft === page.draft)
  }

  private func registerAll() {
    registry.register(.onMainActor { Loader() })
    registry.register(
      scope: .singleton, .autowireOnMainActor(LoaderStore.init))
    registry.register(
      Loader.self,
      .onMainActor(in: Inbox.self) { inbox in
        Loader(title: inbox.title)
      })
  }

  @Test("a protocol that is Sendable is registered on the main actor, and observed as a property")
  func model() {
    registry.register((any Forecast).self, .onMainActor { LiveForecast() })

    let dashboard = Dashboard()
    #expect(dashboard.forecast.summary() == "sunny")
    #expect(dashboard.tags == ["new"])
    #expect(dashboard.title == "Today: 1")
    let changes = ChangeCount()
    withObservationTracking {
      _ = dashboard.look
    } onChange: {
      changes.increment()
    }
    dashboard.look.name = "dark"
    #expect(changes.value == 1)
  }

  @Test("a launch step creates a main-actor service")
  func launch() async throws {
    let launch = try LaunchSequence(
      configuration: AppConfiguration.defaultConfiguration()
    ) {
      ForecastInitializer()
    }
    try await launch.launch()
    #expect(Dashboard().forecast.summary() == "sunny")
  }

  @Test("a main-actor closure is a step")
  func closure() async throws {
    let dashboard = Dashboard()
    let launch = try LaunchSequence(
      configuration: AppConfiguration.defaultConfiguration()
    ) {
      LaunchStep("title") { @MainActor configuration in
        dashboard.title = "Hello"
      }
    }
    let task = launch.launchImmediately()
    #expect(dashboard.title == "Hello")
    _ = try await task.value
  }

  @Test(
    "a class that conforms to another module's Sendable protocol is created anywhere, and so is one with no initializer"
  )
  func nonisolatedClasses() async throws {
    let registry = registry
    registry.register((any PartialLoader).self) { FolderLoader() }
    registry.register { Blank() }
    registry.register(named: "main", .onMainActor { Blank() })
    let code = await Task.detached { () -> InjectionError.Code? in
      #expect(throws: SkipInitializer.self) { try FolderLoader().load(Int.self, named: "count") }
      do throws(InjectionError) {
        _ = try registry.resolve((any PartialLoader).self)
        _ = try registry.resolve(Blank.self)
        _ = try registry.resolve(Blank.self, named: "main")
      } catch { return error.code }
      return nil
    }.value
    #expect(code == .wrongIsolation)
    #expect(try registry.resolve(Blank.self).text == "")
  }

  @Test("a main-actor class is registered and injected, alone, autowired and for a class")
  func registering() throws {
    registerAll()
    let inbox = Inbox()
    #expect(inbox.loader.title == "Inbox")
    #expect(inbox.store.loader.title == "loaded")
    #expect(inbox.store === Inbox().store)
  }

  @Test("a main-actor value is awaited from elsewhere")
  func elsewhere() async throws {
    registerAll()

    let registry = registry
    let store = try await Task.detached {
      try await registry.resolveAsync(LoaderStore.self)
    }.value
    #expect(store === Inbox().store)
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

    registry.register(.loader, .onMainActor { Loader(title: "mine") })
    #expect(try registry.resolve(.loader).title == "mine")
  }

  @Test("a registration's hook runs on the main actor")
  func hooks() {
    var titles: [String] = []

    registry.register(.onMainActor { Loader(title: "any") })
      .onInjectionOnMainActor { loader, _ in titles.append(loader.title) }

    #expect(Inbox().loader.title == "any")
    #expect(titles == ["any"])
  }
}

/// Counts changes, which Observation reports on any thread.
nonisolated final class ChangeCount: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func increment() { count.withLock { $0 += 1 } }
}
