import Foundation
import LaunchInitializers
import SpellTesting
import Spellbook
import Synchronization
import TestSupport
import Testing

extension InjectionKeys {
  fileprivate static let owner = InjectionKey { "live" }.liveInTests()
}

/// The code samples of the article with this name.
@Suite("Coming from", .registry, .timeLimit(.hang)) struct ComingFrom {
  let registry = InitializerRegistry.current

  final class Progress: Sendable {
    let owner: String
    init(owner: String = "nobody") { self.owner = owner }
  }
  protocol Client: AnyObject, Sendable {}
  final class NetworkClient: Client {}

  @Test("what replaces BloodMagic works as the table says")
  func bloodMagic() throws {
    struct Header: Codable { var text: String }
    final class Screen {
      let title = "Inbox"
      @Lazy(onInjection: Screen.progressInjected) var progress: Progress
      @Injected var client: any Client
      @Partial var header: Header?
      @Final var id: Int
      @Preference var token = ""
      var owners: [String] = []

      func progressInjected(_ progress: Progress) { owners.append(progress.owner) }
    }
    registry.register(Progress.self, .in(Screen.self) { screen in Progress(owner: screen.title) })
    registry.register((any Client).self, scope: .singleton) { NetworkClient() }
    registry.register((any PartialLoader).self) { DecodablePartialLoader(bundle: .main) }

    let screen = Screen()
    #expect(screen.progress.owner == "Inbox")
    #expect(screen.owners == ["Inbox"])
    #expect(screen.header == nil)
    screen.id = 1
    #expect(throws: FinalError.self) { try screen.$id.assign(2) }
    #expect(screen.token.isEmpty)
    #expect(screen.client is NetworkClient)
  }

  @Test("what replaces APServiceBox works as the table says")
  func serviceBox() {
    let box = ServiceBox()
    final class Controller {
      @Injected var client: any Client
      @Injected var serviceBox: ServiceBox
    }
    box.register(NetworkClient(), named: "client")
    let controller = Controller()
    let report = box.fill(controller)

    #expect(report.filled.sorted() == ["client", "serviceBox"])
    #expect(controller.serviceBox === box)
  }

  @Test("what replaces Klappa Injector works as the table says")
  func klappa() throws {
    final class Form: PostInjectable {
      @Injected var client: any Client
      @Injected("first") var progress: Progress
      var isReady = false

      func postInject() { isReady = true }
    }
    registry.register(.instance(NetworkClient(), as: .anySupertype))
    registry.register(named: "first", .instance(Progress(owner: "first")).in(Form.self))

    let form = Form()
    try registry.inject(into: form)
    #expect(form.isReady)
    #expect(form.progress.owner == "first")

    registry.register(named: "first", .instance(Progress(owner: "new")).in(Form.self))
    registry.reinject(Progress.self)
    #expect(form.progress.owner == "new")
  }

  final class Checkout: Sendable {
    let client: any Client
    init(client: any Client) { self.client = client }
  }

  @Test("what replaces Factory works as the table says")
  func factory() throws {
    let session = ScopeCache("session")
    registry.register((any Client).self, scope: .cached(in: session)) { NetworkClient() }
    registry.register(Checkout.self) { Checkout(client: try $0.resolve()) }
    registry.register(ArgumentFactory<Progress, String>.self, .factory { _, owner in Progress(owner: owner) })

    final class Page {
      @Injected var checkout: Checkout
      @Injected(.weak) var client: (any Client)?
      @Injected(.everyRead) var fresh: Checkout
    }
    let page = Page()
    #expect(page.checkout !== page.fresh)
    #expect(page.client === page.fresh.client)
    #expect(try registry.resolve(Progress.self, arguments: "Ada").owner == "Ada")
    session.reset()
  }

  @Test("a registration reaches the unread properties of existing objects, and its withdrawal resets the service")
  func laterRegistration() throws {
    final class Page {
      @Injected(.owner) var read
      @Injected(.owner) var unread
    }
    let page = Page()
    #expect(page.read == "live")

    let registration = registry.register(.owner) { "new" }
    #expect(page.read == "live")
    #expect(page.unread == "new")
    registry.reinject(.owner)
    #expect(page.read == "new")

    registration.unregister()
    #expect(try registry.resolve(.owner) == "live")
  }

  @Test("what replaces Swinject works as the table says")
  func swinject() throws {
    registry.register((any Client).self, scope: .graph) { NetworkClient() }
    registry.register(Checkout.self, scope: .singleton, .autowire(Checkout.init))
    registry.register(Progress.self, named: "main") { Progress(owner: "main") }

    let main = try registry.resolve(Progress.self, named: "main")
    let child = InitializerRegistry(parent: registry)
    let checkout = try child.resolve(Checkout.self)

    #expect(main.owner == "main")
    #expect(try registry.resolve(Checkout.self) === checkout)
    #expect(throws: InjectionError.self) { try registry.resolve(Progress.self) }
  }

  @Test("what replaces Swinject's initCompleted connects two objects")
  func initCompleted() throws {
    final class Parent: Sendable {
      let child = Mutex<Child?>(nil)
    }
    final class Child: Sendable {
      let parent: Parent
      init(parent: Parent) { self.parent = parent }
    }

    registry.register(Parent.self, scope: .singleton) { Parent() }
      .onCompletion { parent, resolver in
        parent.child.withLock { $0 = try? resolver.resolve() }
      }
    registry.register(
      Child.self, scope: .singleton, .autowire(Child.init(parent:)))

    let child = try registry.resolve(Child.self)
    #expect(child.parent.child.withLock(\.self) === child)
  }

  @Test("two objects can have injected properties of each other")
  func bothInjected() throws {
    final class Page: Sendable {
      let menu = Injected<Menu?>(.weak)
    }
    final class Menu: Sendable {
      let page = Injected<Page?>(.weak)
    }
    registry.register(Page.self, scope: .singleton) { Page() }
    registry.register(Menu.self, scope: .singleton) { Menu() }

    let page = try registry.resolve(Page.self)
    #expect(page.menu.value?.page.value === page)
  }

  final class FakeClient: Client {}

  @Test("swift-dependencies")
  func dependencies() {
    final class Page { @Injected var client: any Client }

    registry.register((any Client).self) { NetworkClient() }
    let override = InitializerRegistry(parent: .current)
    override.register((any Client).self) { FakeClient() }
    override.run {
      #expect(Page().client is FakeClient)
    }

    #expect(Page().client is NetworkClient)
  }

  @Test("what a parent keeps doesn't get a child's override")
  func captive() throws {
    registry.register((any Client).self) { NetworkClient() }

    registry.register(
      Checkout.self, scope: .singleton, .autowire(Checkout.init))
    let child = InitializerRegistry(parent: registry)
    child.register((any Client).self) { FakeClient() }
    let kept = try child.resolve(Checkout.self)
    #expect(kept.client is NetworkClient)

    child.register(
      Checkout.self, scope: .singleton, .autowire(Checkout.init))
    let own = try child.resolve(Checkout.self)
    #expect(own.client is FakeClient)
  }

  @Test("what replaces Initializable works as the table says")
  @MainActor func initializable() async throws {
    struct AppConfiguration: Configurable {
      var serviceStorage: ServiceStorage = [
        "Crash": [
          .development: ["Host": "localhost"],
          .production: ["Host": "crashes.example.com"],
        ]
      ]
      func currentStage() -> ReleaseStage { .production }
      static func defaultConfiguration() -> AppConfiguration { AppConfiguration() }
    }
    @MainActor final class CrashInitializer: Initializable {
      var hosts: [String] = []
      func perform(with configuration: any Configurable) async throws {
        let host = try configuration.requiredValue(
          for: "Crash", key: "Host")
        hosts.append(host)
      }
      func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
    }
    let crash = CrashInitializer()
    let configuration = AppConfiguration.defaultConfiguration()
    let launch = try LaunchSequence(configuration: configuration) {
      crash
    }
    try await launch.launch()
    await launch.enterBackground()
    await launch.enterForeground()

    #expect(crash.hosts == ["crashes.example.com", "crashes.example.com"])
  }

  @Test("what replaces UserDefaults works as the table says")
  func userDefaults() throws {
    final class Settings {
      @Preference var volume = 5
      @Preference("ui.theme") var theme = "light"
      @Preference var lastOpened: Date?
    }
    let settings = Settings()
    settings.volume = 7
    settings.lastOpened = Date(timeIntervalSince1970: 0)
    settings.lastOpened = nil
    settings.$volume.reset()
    #expect(settings.volume == 5)
    #expect(!settings.$volume.isSet)
  }

  @Test("a value that UserDefaults keeps as data is read as its type")
  func encodedDefaults() throws {
    struct Theme: Codable, Equatable { var name = "light" }
    let domain: [String: Any] = ["volume": 7, "theme": try JSONEncoder().encode(Theme(name: "dark"))]
    let store = MemoryPreferenceStore()
    registry.register(.instance(store as any PreferenceStore))

    func takeOver(
      _ domain: [String: Any], into store: some PreferenceStore
    ) throws {
      try store.migrate(to: 1) { _, changes in
        let file = URL.temporaryDirectory
          .appending(path: "\(UUID()).plist")
        defer { try? FileManager.default.removeItem(at: file) }
        try PropertyListSerialization.data(
          fromPropertyList: domain, format: .binary, options: 0
        ).write(to: file)
        try changes.import(
          from: file, keys: ["volume", "theme"], skippingInvalid: true)
      }
    }
    try takeOver(domain, into: store)
    try takeOver(["volume": 8], into: store)
    _ = { () throws in
      let app = Bundle.main.bundleIdentifier ?? "player"
      try takeOver(UserDefaults.standard.persistentDomain(forName: app) ?? [:], into: FilePreferenceStore.standard)
    }

    final class Settings {
      @Preference var volume = 5
      @Preference("theme", formerly: .encoded("theme"))
      var theme = Theme()
    }

    #expect(Settings().volume == 7)
    #expect(Settings().theme.name == "dark")
    Settings().theme.name = "blue"
    #expect(try store.value(Theme.self, forKey: "theme") == Theme(name: "blue"))
  }

  @Test("a migration reads a value that UserDefaults keeps in another form")
  func convertedDefaults() throws {
    struct Theme: Codable, Equatable { var name = "light" }
    let domain: [String: Any] = ["isDark": 1, "theme": try JSONEncoder().encode(Theme(name: "dark"))]
    let file = URL.temporaryDirectory.appending(path: "\(UUID().uuidString).plist")
    defer { try? FileManager.default.removeItem(at: file) }
    let store = MemoryPreferenceStore()
    try PropertyListSerialization.data(fromPropertyList: domain, format: .binary, options: 0).write(to: file)
    try store.migrate(to: 1) { _, changes in
      try changes.import(from: file, skippingInvalid: true)
    }
    registry.register(.instance(store as any PreferenceStore))
    final class Settings { @Preference var isDark = false }
    #expect(!Settings().isDark)
    #expect(Settings().$isDark.error?.code == .typeMismatch)

    try store.migrate(to: 2) { _, changes in
      if let isDark = try changes.value(Int.self, forKey: "isDark") {
        try changes.set(isDark != 0, forKey: "isDark")
      }
      if let data = try changes.value(Data.self, forKey: "theme") {
        let theme = try JSONDecoder().decode(Theme.self, from: data)
        try changes.set(theme, forKey: "theme")
      }
    }

    #expect(Settings().isDark)
    #expect(try store.value(Theme.self, forKey: "theme") == Theme(name: "dark"))
  }

  enum Settings {
    static let volume = Preference("volume", default: 5)
  }

  @Test("what replaces Defaults works as the table says")
  func defaults() throws {
    Settings.volume.value = 7
    try Settings.volume.update { $0 += 1 }
    Settings.volume.reset()

    #expect(!Settings.volume.isSet)
  }
}
