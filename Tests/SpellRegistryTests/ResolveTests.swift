import SpellRegistry
import TestSupport
import Testing

extension InjectionKeys {
  fileprivate static let spare = InjectionKey<FileTracker> { FileTracker() }
}

@Suite("Resolving", .timeLimit(.hang)) struct ResolveTests {
  let registry = InitializerRegistry()

  @Test("an initializer that throws leaves no trace, in every scope", arguments: [0, 1, 2, 3])
  func failing(which: Int) throws {
    let scopes: [Scope<Ticket>] = [.unique, .singleton, .weak, .cached(in: ScopeCache("cache"))]
    let runs = Counter()
    registry.register(Ticket.self, scope: scopes[which]) {
      let run = runs.increment()
      if run < 3 { throw Offline() }
      return Ticket(run)
    }
    for _ in 1...2 {
      let error = try #require(registry.error(resolving: Ticket.self))
      #expect(error.code == .initializerFailed)
      #expect(error.underlying is Offline)
    }
    #expect(try registry.resolve(Ticket.self).number == 3)
  }

  @Test("a value of each kind of type comes whole, from each scope and with a hook")
  func kindsOfTypes() throws {
    struct Empty: Equatable {}
    struct Large: Equatable {
      var words = [1, 2, 3], name = "large", pair = (7, 8.5), isLast = true
      static func == (left: Large, right: Large) -> Bool {
        left.words == right.words && left.name == right.name && left.pair == right.pair && left.isLast == right.isLast
      }
    }
    enum Choice: Equatable { case first, second(String) }
    func check<Value: Sendable>(_ value: Value, _ isEqual: (Value, Value) -> Bool) throws {
      for scope in [Scope<Value>.unique, .graph, .singleton] {
        let registry = InitializerRegistry()
        let registration = registry.register(Value.self, scope: scope) { value }
        for _ in 1...2 { #expect(isEqual(try registry.resolve(Value.self), value)) }
        registry.register([Value].self) { [try $0.resolve(), try $0.resolve()] }
        #expect(try registry.resolve([Value].self).allSatisfy { isEqual($0, value) })
        registration.onInjection { _, _ in }
        #expect(isEqual(try registry.resolve(Value.self), value))
      }
    }
    try check(true, ==)
    try check(UInt8(200), ==)
    try check(Int.min, ==)
    try check("text that is too long to be small", ==)
    try check(Empty(), ==)
    try check(Large(), ==)
    try check(Choice.second("two"), ==)
    try check(Int?.some(0), ==)
    try check(Int?.none, ==)
    try check(Int??.some(nil), ==)
    try check(Ticket(7)) { $0 === $1 }
    try check(FileTracker("any") as any Tracker) { $0 === $1 }
    try check({ 7 } as @Sendable () -> Int) { $0() == $1() }
    try check(Int.self as any Any.Type) { $0 == $1 }
  }

  @Test("a property whose initializer throws stores nothing and tries again")
  func failingProperty() throws {
    final class Page { @Spell var ticket: Ticket }
    let runs = Counter()
    registry.register(Ticket.self) {
      if runs.increment() == 1 { throw Offline() }
      return Ticket(runs.value)
    }
    let page = registry.run { Page() }
    #expect(throws: InjectionError.self) { try page.$ticket.resolve(in: page) }
    #expect(!page.$ticket.hasValue)
    #expect(page.ticket.number == 2)
    #expect(page.$ticket.hasValue)
  }

  @Test("a lookup that failed is not remembered")
  func missingFirst() throws {
    #expect(registry.error(resolving: Clock.self)?.code == .notRegistered)
    registry.register { Clock() }
    _ = try registry.resolve(Clock.self)
  }

  @Test("a chain of three hundred dependencies resolves on an ordinary thread")
  func deepChain() async throws {
    let registry = registry
    for index in 0..<300 {
      registry.register(Int.self, named: .equal(to: "\(index)"), scope: .singleton) {
        index == 299 ? 1 : try $0.resolve(Int.self, named: "\(index + 1)") + 1
      }
    }
    #expect(await onThread(stackSize: 8 << 20) { try? registry.resolve(Int.self, named: "0") } == 300)
  }

  @Test("a registry is released after values, errors, cycles and hooks")
  func release() {
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry(parent: InitializerRegistry())
      gone = registry
      registry.register(Clock.self, scope: .singleton) { Clock() }.onInjection { _, _ in }
      registry.register(Network.self, scope: .graph, .autowire(Network.init))
      registry.register(Int.self, scope: .singleton) { try $0.resolve(Int.self) }
      registry.register(Ticket.self, scope: .weak) { throw Offline() }
      registry.onInjection { _, _ in }
      _ = try? registry.resolve(Network.self)
      _ = try? registry.resolve(Int.self)
      _ = try? registry.resolve(Ticket.self)
      final class Page { @Spell var network: Network }
      _ = registry.run { Page() }.network
    }
    #expect(gone == nil)
  }

  @Test("a property does not retain its container")
  func containers() {
    final class Page { @Spell var ticket: Ticket }
    registry.register(Ticket.self, .in(Page.self) { _ in Ticket(1) })
    weak var gone: Page?
    do {
      let page = registry.run { Page() }
      gone = page
      _ = page.ticket
    }
    #expect(gone == nil)
  }

  @Test("resolveAll keeps the order of registration, and leaves out those for containers")
  func all() throws {
    final class Page {}
    registry.register((any Tracker).self, named: "c") { FileTracker("c") }
    registry.register((any Tracker).self, .in(Page.self) { _ in FileTracker("page") })
    registry.register(.instance(FileTracker("universal"), as: .anySupertype))
    registry.register((any Tracker).self) { FileTracker("plain") }
    registry.register(.instance(Clock(), as: .anySupertype))
    #expect(try registry.resolveAll((any Tracker).self).map(\.label) == ["c", "universal", "plain"])
    registry.register((any Tracker).self, named: "c") { FileTracker("newer c") }
    #expect(try registry.resolveAll((any Tracker).self).map(\.label) == ["universal", "plain", "newer c"])
    #expect(try registry.resolveAll(Checkout.self).isEmpty)
  }

  @Test("resolveAll leaves out instances that are registered for their own type or for a key")
  func allWithoutInstancesForOthers() throws {
    final class OtherTracker: Tracker { let label = "universal" }
    registry.register(.instance(FileTracker("file")))
    registry.register(.spare, .instance(FileTracker("key")))
    registry.register(.instance(OtherTracker(), as: .anySupertype))
    #expect(try registry.resolveAll((any Tracker).self).map(\.label) == ["universal"])
    #expect(try registry.resolveAll(FileTracker.self).map(\.label) == ["file"])
  }

  @Test("resolveAll ends at the first initializer that throws")
  func allFailing() {
    let runs = Counter()
    registry.register(Int.self, named: "a") { runs.increment() }
    registry.register(Int.self, named: "b") { throw Offline() }
    registry.register(Int.self, named: "c") { runs.increment() }
    let error = #expect(throws: InjectionError.self) { try registry.resolveAll(Int.self) }
    #expect(error?.underlying is Offline)
    #expect(runs.value == 1)
  }

  @Test("the current registry is inherited by tasks, and comes back after a throw")
  func current() async {
    let (outer, inner) = (registry, InitializerRegistry())
    await outer.run {
      #expect(throws: Offline.self) {
        try inner.run {
          #expect(InitializerRegistry.current === inner)
          throw Offline()
        }
      }
      #expect(InitializerRegistry.current === outer)
      let inherited = await Task { InitializerRegistry.current === outer }.value
      let detached = await Task.detached { InitializerRegistry.current === InitializerRegistry.shared }.value
      #expect(inherited && detached)
    }
    #expect(InitializerRegistry.current === InitializerRegistry.shared)
  }

  @Test("a body of run may be one statement whose result isn't used, also in a closure of one statement")
  func oneStatement() throws {
    let registry = InitializerRegistry()
    let configure: () -> Void = { registry.run { InitializerRegistry.current.register { Clock() } } }
    configure()
    #expect(try registry.resolve(Clock?.self) != nil)
    let clock = try registry.run { try registry.resolve(Clock.self) }
    registry.run { clock }
  }

  @Test("a property asks the registry that was current when its object was made")
  func remembered() {
    final class Page { @Spell var ticket: Ticket }
    let other = InitializerRegistry()
    registry.register { Ticket(1) }
    other.register { Ticket(2) }
    let page = registry.run { Page() }
    #expect(other.run { page.ticket.number } == 1)
  }
}
