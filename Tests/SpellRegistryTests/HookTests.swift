import SpellRegistry
import TestSupport
import Testing

@Suite("Hooks", .timeLimit(.hang)) struct HookTests {
  let registry = InitializerRegistry()

  @Test("hooks are called in order: the registration's, the property's, the observer's, the registry's")
  func order() {
    let heard = Shared<[String]>([])
    final class Page: InjectionObserver {
      let heard: Shared<[String]>
      @Spell(hook: { (page: Page, ticket: Ticket) in page.heard.update { $0.append("property \(ticket.number)") } })
      var ticket: Ticket
      init(_ heard: Shared<[String]>) { self.heard = heard }
      func didInject(_ value: Any, intoProperty name: String) { heard.update { $0.append("observer of \(name)") } }
    }
    registry.onInjection { value, point in
      heard.update { $0.append("registry: \(type(of: value)) for \(point.propertyName ?? "-")") }
    }
    registry.register { Ticket(1) }
      .onInjection { ticket, point in heard.update { $0.append("first for \(point.propertyName ?? "-")") } }
      .onInjection { ticket, _ in heard.update { $0.append("second \(ticket.number)") } }
    let page = registry.run { Page(heard) }
    _ = page.ticket
    _ = page.ticket
    #expect(
      heard.value == [
        "first for ticket", "second 1", "property 1", "observer of ticket", "registry: Ticket for ticket",
      ])
  }

  @Test("a hook that is added while a value is made is called for it, in every scope", arguments: 0..<3)
  func addedMeanwhile(scope: Int) throws {
    let scopes: [Scope<Ticket>] = [.unique, .graph, .singleton]
    let (registry, heard) = (registry, Shared<[String]>([]))
    let registration = Shared<Registration<Ticket>?>(nil)
    let added = registry.register(Ticket.self, scope: scopes[scope]) {
      registry.onInjection { value, _ in heard.update { $0.append("registry: \(type(of: value))") } }
      registration.value?.onInjection { ticket, point in
        heard.update { $0.append("registration: \(ticket.number) for \(point.propertyName ?? "-")") }
      }
      return Ticket(7)
    }.onCompletion { _, _ in heard.update { $0.append("completion") } }
    registration.update { $0 = added }
    _ = try registry.resolve(Ticket.self, named: "name")
    #expect(heard.value == ["registration: 7 for name", "registry: Ticket", "completion"])
  }

  @Test("hooks are called for each call of resolve, even for a kept value, and for each value of resolveAll")
  func everyInjection() throws {
    let heard = Counter()
    registry.register(Clock.self, scope: .singleton) { Clock() }.onInjection { _, _ in heard.increment() }
    _ = try registry.resolve(Clock.self)
    _ = try registry.resolve(Clock.self)
    _ = try registry.resolve(Clock?.self)
    _ = try registry.resolveAll(Clock.self)
    #expect(heard.value == 4)
  }

  @Test("hooks are called for instances, arguments and dependencies")
  func kinds() throws {
    let heard = Shared<[Int]>([])
    registry.register(.instance(1)).onInjection { value, _ in heard.update { $0.append(value) } }
    registry.register(ArgumentFactory<Ticket, Int>.self, .factory { Ticket($1) })
      .onInjection { ticket, _ in heard.update { $0.append(ticket.number) } }
    registry.register([Int].self) { [try $0.resolve()] }
      .onInjection { value, _ in heard.update { $0.append(value.count * 100) } }
    _ = try registry.resolve(Ticket.self, arguments: 7)
    _ = try registry.resolve([Int].self)
    #expect(heard.value == [7, 1, 100])
  }

  @Test("a parent's hook hears of what the parent keeps, whoever asks, and of nothing that a child makes")
  func parentsHook() throws {
    let child = InitializerRegistry(parent: registry)
    let journal = Journal()
    registry.onInjection { value, _ in journal.note("\(type(of: value))") }
    registry.register(Clock.self, scope: .singleton) { Clock() }
    registry.register(Ticket.self) { Ticket(1) }
    child.register((any Tracker).self, scope: .singleton) { FileTracker() }
    for _ in 0..<2 { _ = try child.resolve(Clock.self) }
    _ = try child.resolve(Ticket.self)
    _ = try child.resolve((any Tracker).self)
    #expect(journal.entries == ["Clock", "Clock"])
  }

  @Test("hooks get an instance that serves a supertype as its own type")
  func supertype() throws {
    let heard = Shared<[String]>([])
    registry.register(.instance(FileTracker("universal"), as: .anySupertype))
      .onInjection { tracker, point in heard.update { $0.append("\(tracker.label) as \(point.propertyType)") } }
    _ = try registry.resolve((any Tracker).self)
    _ = try registry.resolve((any Tracker)?.self)
    #expect(heard.value == ["universal as Tracker", "universal as Optional<Tracker>"])
  }

  @Test("a nil for which nothing is registered, and an initializer that throws, aren't injections")
  func noInjection() {
    let heard = Counter()
    registry.onInjection { _, _ in heard.increment() }
    registry.register(Ticket.self) { throw Offline() }.onInjection { _, _ in heard.increment() }
    #expect(registry.error(resolving: Clock?.self) == nil)
    #expect(registry.error(resolving: Ticket.self) != nil)
    #expect(heard.value == 0)
  }

  @Test("a hook that is added later, or by a hook, is called for the injections after that")
  func added() throws {
    let heard = Counter()
    let registration = registry.register(Clock.self) { Clock() }
    let isAdded = Counter()
    registration.onInjection { _, _ in
      if isAdded.increment() == 1 { registration.onInjection { _, _ in heard.increment() } }
    }
    _ = try registry.resolve(Clock.self)
    #expect(heard.value == 0)
    _ = try registry.resolve(Clock.self)
    #expect(heard.value == 1)
  }

  @Test("a property's hook and its container's observer may read the property")
  func reading() {
    final class Page: InjectionObserver {
      @Spell(hook: { (page: Page, _: Ticket) in page.read.append(page.ticket.number) }) var ticket: Ticket
      var read: [Int] = []
      func didInject(_ value: Any, intoProperty name: String) { read.append(ticket.number * 10) }
    }
    let runs = Counter()
    registry.register { Ticket(runs.increment()) }
    let page = registry.run { Page() }
    #expect(page.ticket.number == 1)
    #expect(page.read == [1, 10])
  }

  @Test("a hook may resolve others, register and withdraw")
  func changing() throws {
    let registry = registry
    let registration = registry.register(Clock.self, scope: .singleton) { Clock() }
    registry.register { Ticket(1) }
    let resolved = Counter()
    registration.onInjection { _, _ in
      if (try? registry.resolve(Ticket.self)) != nil { resolved.increment() }
      registry.register(Int.self) { 3 }
      registration.unregister()
    }
    _ = try registry.resolve(Clock.self)
    #expect(resolved.value == 1)
    #expect(try registry.resolve(Int.self) == 3)
    #expect(registry.error(resolving: Clock.self)?.code == .notRegistered)
  }

  @Test("a hook that resolves the type that it is called for ends, in every scope", arguments: [true, false])
  func again(isKept: Bool) throws {
    let registry = registry
    let heard = Counter()
    registry.register(Clock.self, scope: isKept ? .singleton : .unique) { Clock() }
      .onInjection { _, _ in
        heard.increment()
        _ = try? registry.resolve(Clock.self)
      }
    _ = try registry.resolve(Clock.self)
    #expect(heard.value == 1)
  }

  @Test("a registry's hook may resolve a logger of that registry")
  func logging() throws {
    let registry = registry
    let lines = Shared<[String]>([])
    registry.register(FileTracker.self, scope: .singleton) { FileTracker("log") }
    registry.register { Clock() }
    registry.onInjection { value, _ in
      guard let log = try? registry.resolve(FileTracker.self) else { return }
      lines.update { $0.append("\(log.label): \(type(of: value))") }
    }
    _ = try registry.resolve(Clock.self)
    #expect(lines.value == ["log: Clock"])
  }

  @Test("a hook that makes another object with the same property ends")
  func sameProperty() {
    final class Page { @Spell var clock: Clock }
    let registry = registry
    let heard = Counter()
    registry.register(Clock.self, scope: .singleton) { Clock() }
      .onInjection { _, _ in
        heard.increment()
        _ = registry.run { Page() }.clock
      }
    _ = registry.run { Page() }.clock
    #expect(heard.value == 1)
  }

  @Test("a hook may resolve a value that needs the one it is called for")
  func dependent() throws {
    let registry = registry
    let network = Shared<Network?>(nil)
    registry.register(Clock.self, scope: .singleton) { Clock() }
      .onInjection { _, _ in
        let made = try? registry.resolve(Network.self)
        network.update { $0 = $0 ?? made }
      }
    registry.register(Network.self, .autowire(Network.init))
    let clock = try registry.resolve(Clock.self)
    #expect(network.value?.clock === clock)
  }

  @Test("no hook of a registration is called for what a hook injects")
  func inner() throws {
    let registry = registry
    let heard = Shared<[String]>([])
    registry.register { Ticket(1) }.onInjection { _, _ in heard.update { $0.append("ticket") } }
    registry.register { Clock() }
      .onInjection { _, _ in
        heard.update { $0.append("clock") }
        _ = try? registry.resolve(Ticket.self)
      }
    _ = try registry.resolve(Clock.self)
    #expect(heard.value == ["clock"])
  }

  @Test("a hook for another class than the one that declares the property stops the program with a sentence")
  func wrongContainer() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Page { @Spell(hook: { (_: Clock, _: Int) in }) var number: Int }
      let registry = InitializerRegistry()
      registry.register(Int.self) { 1 }
      _ = registry.run { Page() }.number
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains("A property of type Int in Page has a hook for Clock."))
    #expect(message.contains("Write the hook for the class that declares the property."))
  }

  @Test("each of a registry's hooks is called for what was requested, and none for what a hook injects")
  func nested() throws {
    let (registry, heard) = (registry, Shared<[String]>([]))
    registry.register { Ticket(1) }
    registry.register { Clock() }
    registry.onInjection { value, _ in
      heard.update { $0.append("first: \(type(of: value))") }
      _ = try? registry.resolve(Clock.self)
    }
    registry.onInjection { value, _ in heard.update { $0.append("second: \(type(of: value))") } }
    _ = try registry.resolve(Ticket.self)
    #expect(heard.value == ["first: Ticket", "second: Ticket"])
  }

  @Test("hooks that inject at each call don't multiply", arguments: [1, 2, 10])
  func multiplying(count: Int) throws {
    let (registry, calls) = (registry, Counter())
    registry.register { Ticket(1) }
    for _ in 0..<count {
      registry.onInjection { _, _ in
        calls.increment()
        _ = try? registry.resolve(Ticket.self)
      }
    }
    _ = try registry.resolve(Ticket.self)
    #expect(calls.value == count)
  }

  @Test("the requests of a hook share the values of scope graph with each other")
  func graphValues() throws {
    let (registry, isShared) = (InitializerRegistry(), Counter())
    registry.register(Clock.self, scope: .graph) { Clock() }
    registry.register { Ticket(1) }.onInjection { _, _ in
      let (one, other) = (try? registry.resolve(Clock.self), try? registry.resolve(Clock.self))
      if one != nil && one === other { isShared.increment() }
    }
    _ = try registry.resolve(Ticket.self)
    _ = registry.run { Spell<Ticket>() }.wrappedValue
    #expect(isShared.value == 2)
  }
}
