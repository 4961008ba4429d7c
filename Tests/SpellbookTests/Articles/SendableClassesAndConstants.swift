import SpellTesting
import Spellbook
import TestSupport
import Testing

/// The code samples of the article with this name.
@Suite("Sendable classes and constants", .registry, .timeLimit(.hang)) struct SendableClassesAndConstants {
  let registry = InitializerRegistry.current

  final class Cache: Sendable {}
  struct Theme: Codable, Sendable { var name: String }

  final class Service: Sendable {
    // error: stored property '_cache' of 'Sendable'-conforming class
    // 'Service' is mutable
    // @Lazy var cache = Cache()
    let cache = LazyConstant { Cache() }
    let clock = Injected<Int>()
    let theme = Partial<Theme>()
    let id = Final<Int>()
  }
  enum Settings {
    static let launches = Preference("launches", default: 0)
    static let cache = LazyConstant { Cache() }
  }

  @Test("each wrapper is a constant in a Sendable class and as a static")
  func constants() throws {
    registry.register(Int.self) { 7 }
    registry.register(Theme.self) { Theme(name: "dark") }
    let service = Service()

    #expect(service.cache.value === service.cache.value)
    #expect(service.clock.value == 7)
    #expect(try service.theme.load().name == "dark")
    try service.id.assign(1)
    #expect(service.id.value == 1)
    Settings.launches.value += 1
    #expect(Settings.launches.value == 1)
    #expect(Settings.cache.value === Settings.cache.value)
  }

  protocol OrderStore: Sendable { func all() -> [String] }
  struct MemoryOrderStore: OrderStore {
    var orders: [String]
    func all() -> [String] { orders }
  }

  final class OrderController: Sendable {
    let orders = Injected<any OrderStore>()

    func list() -> [String] { orders.value.all() }
  }

  struct ReceiptController: Sendable {
    @Injected var orders: any OrderStore

    func list() -> [String] { orders.all() }
  }

  @Test("a route closure captures a struct with injected properties")
  func structController() async {
    registry.register((any OrderStore).self) { MemoryOrderStore(orders: ["tea"]) }

    let controller = ReceiptController()
    let route: @Sendable () -> [String] = { controller.list() }

    #expect(await Task.detached { route() }.value == ["tea"])

    let copy = controller
    registry.register((any OrderStore).self) { MemoryOrderStore(orders: ["other"]) }
    #expect(copy.list() == ["tea"])
  }

  @Test("a plain constant of a preference asks the current registry at each use")
  func constantPreference() {
    final class Counter: Sendable { let launches = Preference("launches", default: 0) }
    let (counter, other) = (Counter(), InitializerRegistry())
    other.register(.instance(MemoryPreferenceStore() as any PreferenceStore))
    counter.launches.value = 7
    #expect(other.run { counter.launches.value } == 0)
    #expect(counter.launches.value == 7)
  }

  @Test("a route closure captures a controller whose services are constants")
  func controller() async {
    registry.register((any OrderStore).self) { MemoryOrderStore(orders: ["tea"]) }

    let controller = OrderController()
    let route: @Sendable () -> [String] = { controller.list() }

    #expect(await Task.detached { route() }.value == ["tea"])
  }

  @Test("a constant gets what is registered for the name that its declaration gives")
  func name() {
    registry.register((any OrderStore).self, named: "archive") { MemoryOrderStore(orders: ["old"]) }
    registry.register((any OrderStore).self) { MemoryOrderStore(orders: ["new"]) }

    #expect(Injected<any OrderStore>("archive").value.all() == ["old"])
    #expect(Injected<any OrderStore>().value.all() == ["new"])
  }
}
