import PartialSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Wallet {
  @Partial var card: Card
  @Partial("Spare") var spare: Card
  @Partial var maybe: Card?
}
private final class FullWallet: Wallet {
  @Partial("Third") var third: Card
}

@Suite("@Partial", .registry, .timeLimit(.hang)) struct PartialTests {
  let registry = InitializerRegistry.current
  let loader = NamingLoader()
  init() { registry.register((any PartialLoader).self) { [loader] in loader } }

  @Test("is loaded at the first read, once, and not at declaration")
  func firstRead() {
    let wallet = Wallet()
    #expect(loader.asked.value == 0)
    #expect(!wallet.$card.hasValue)
    #expect(wallet.card.title == "Card 1")
    #expect(wallet.card.title == "Card 1")
    #expect(wallet.$card.hasValue)
  }

  @Test("loads the resource that the declaration names")
  func givenName() {
    #expect(Wallet().spare.title == "Spare 1")
    #expect(FullWallet().third.title == "Third 2")
  }

  @Test("an Optional loads the type that it wraps")
  func optional() { #expect(Wallet().maybe?.title == "Card 1") }

  @Test("load returns the value of a read, and after a reset the next read loads again")
  func loadAndReset() throws {
    let wallet = Wallet()
    #expect(try wallet.$card.load().title == "Card 1")
    #expect(wallet.card.title == "Card 1")
    wallet.$card.reset()
    #expect(!wallet.$card.hasValue)
    #expect(wallet.card.title == "Card 2")
  }

  @Test("a loader for the class, or for the property's name, comes before the general one")
  func specificLoaders() {
    struct Fixed: PartialLoader {
      let title: String
      func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
        guard let value = Card(title: title) as? Value else { throw NamingLoader.Unsuitable() }
        return value
      }
    }
    registry.register((any PartialLoader).self, named: "spare") { Fixed(title: "by name") }
    registry.register((any PartialLoader).self, .in(FullWallet.self) { _ in Fixed(title: "by class") })
    #expect(Wallet().card.title == "Card 1")
    #expect(Wallet().spare.title == "by name")
    #expect(FullWallet().spare.title == "by class")
  }

  @Test("the registered initializer of the type comes first")
  func registeredInitializer() {
    registry.register(Card.self, named: "card") { Card(title: "registered") }
    #expect(Wallet().card.title == "registered")
    #expect(Wallet().spare.title == "Spare 1")
  }

  @Test("asks the registry that was current when the object was created")
  func capturedRegistry() {
    let other = InitializerRegistry()
    other.register(Card.self) { Card(title: "other") }
    let wallet = other.run { Wallet() }
    #expect(wallet.card.title == "other")
  }

  @Test("works in structs, actors, main-actor classes and local scopes, and as a constant")
  @MainActor func everywhere() async throws {
    struct Value { @Partial("struct") var card: Card }
    let value = Value()
    let copy = value
    #expect(value.card.title == "struct 1")
    #expect(copy.card.title == "struct 1")

    actor Worker {
      @Partial("actor") var card: Card
      func title() -> String { card.title }
    }
    #expect(await Worker().title() == "actor 2")

    @MainActor final class Main { @Partial("main") var card: Card }
    #expect(Main().card.title == "main 3")

    @Partial("local") var local: Card
    #expect(local.title == "local 4")

    final class Constant: Sendable { let card = Partial<Card>("constant") }
    let constant = Constant()
    #expect(constant.card.value.title == "constant 5")
    constant.card.reset()
    #expect(try constant.card.load().title == "constant 6")
  }

  @Test("a thousand first readers get one value, loaded once")
  func race() async {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Shared: @unchecked Sendable { @Partial var card: Card }
    let shared = Shared()
    let titles = await withTaskGroup(of: String.self) { group in
      for _ in 0..<1_000 { group.addTask { shared.card.title } }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(titles == ["Card 1"])
    #expect(loader.asked.value == 1)
  }
}

@Suite("The hooks of @Partial", .registry { $0.register((any PartialLoader).self) { NamingLoader() } })
struct PartialHookTests {
  private final class Observed: InjectionObserver {
    @Partial(onInjection: { (container: Observed, card: Card) in container.heard.append("closure \(card.title)") })
    var card: Card
    @Partial("Named", onInjection: Observed.didLoad) var named: Card
    @Partial("Other", onInjection: { (container: Observed, _: Card) in container.heard.append("other") })
    var other: Card
    @Partial(onInjection: Observed.didLoad) var last: Card
    var heard: [String] = []

    func didLoad(_ card: Card) { heard.append("method \(card.title)") }
    func didInject(_ value: Any, intoProperty name: String) { heard.append("observer \(name)") }
  }

  @Test("are called once for each loaded value: the property's, then the observer's")
  func order() {
    let observed = Observed()
    for _ in 0..<2 { _ = (observed.card, observed.named, observed.other, observed.last) }
    #expect(
      observed.heard == [
        "closure Card 1", "observer card", "method Named 1", "observer named", "other", "observer other",
        "method Card 1", "observer last",
      ])
    observed.$card.reset()
    _ = observed.card
    #expect(observed.heard.suffix(2) == ["closure Card 1", "observer card"])
  }

  @Test("a registry's hook gets the value and the property's name")
  func registryHook() {
    let heard = Counter()
    InitializerRegistry.current.onInjection { value, point in
      if value is Card && point.propertyName == "card" { heard.increment() }
    }
    _ = Observed().card
    #expect(heard.value == 1)
  }
}
