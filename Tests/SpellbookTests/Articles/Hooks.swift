import SpellTesting
import Spellbook
import Synchronization
import Testing

/// The code samples of the article with this name.
@Suite("Hooks", .registry) struct Hooks {
  let registry = InitializerRegistry.current

  final class Network: Sendable {
    private let name = Mutex("")
    var label: String {
      get { name.withLock(\.self) }
      set { name.withLock { $0 = newValue } }
    }
  }

  @Test("of a property: a closure, and a method")
  func property() {
    final class Screen {
      let title = "Inbox"
      @Lazy(onInjection: { (screen: Screen, network) in network.label = screen.title })
      var network = Network()
      @Injected(onInjection: Screen.didGet) var other: Network

      func didGet(_ network: Network) { network.label = "\(title) 2" }
    }
    registry.register { Network() }
    let screen = Screen()

    #expect(screen.network.label == "Inbox")
    #expect(screen.other.label == "Inbox 2")
  }

  @Test("of an object: its observer")
  func observer() {
    final class Page: InjectionObserver {
      @Injected var network: Network
      @Lazy var tags = ["new"]
      var injected: [String] = []

      func didInject(_ value: Any, intoProperty name: String) { injected.append(name) }
    }
    registry.register { Network() }
    let page = Page()
    _ = (page.tags, page.network, page.tags)

    #expect(page.injected == ["tags", "network"])
  }

  @Test("of a registration, and of a registry")
  func registration() throws {
    final class Page { @Injected var network: Network }
    registry.register { Network() }
      .onInjection { network, point in
        network.label = point.propertyName ?? "resolved"
      }

    #expect(Page().network.label == "network")
    let resolved = try registry.resolve(Network.self)
    #expect(resolved.label == "resolved")
  }

  final class Lines: Sendable {
    private let content = Mutex<[String]>([])
    var all: [String] { content.withLock(\.self) }
    func add(_ line: String) { content.withLock { $0.append(line) } }
  }

  @Test("are called in one order")
  func order() {
    final class Page: InjectionObserver {
      let lines: Lines
      @Injected(onInjection: { (page: Page, _: Network) in page.lines.add("the property's") })
      var network: Network
      init(lines: Lines) { self.lines = lines }

      func didInject(_ value: Any, intoProperty name: String) { lines.add("the object's") }
    }
    let lines = Lines()
    registry.register { Network() }.onInjection { _, _ in lines.add("the registration's") }
    registry.onInjection { _, _ in lines.add("the registry's") }
    _ = Page(lines: lines).network

    #expect(
      lines.all == [
        "the registration's", "the property's", "the object's",
        "the registry's",
      ])
  }

  @Test("inject(into:) ends with a call of postInject")
  func postInjection() throws {
    final class Page: PostInjectable {
      @Injected var network: Network
      var isReady = false

      func postInject() { isReady = true }
    }
    registry.register { Network() }
    let page = Page()
    try registry.inject(into: page)

    #expect(page.isReady)
  }
}
