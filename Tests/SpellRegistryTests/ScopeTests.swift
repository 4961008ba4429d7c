import SpellRegistry
import TestSupport
import Testing

private protocol Shelf<Item>: AnyObject, Sendable { associatedtype Item }
private final class IntShelf: Shelf { typealias Item = Int }
private protocol Source<Item>: Sendable { associatedtype Item }
private struct IntSource: Source { typealias Item = Int }

@Suite("Scopes", .timeLimit(.hang)) struct ScopeTests {
  let registry = InitializerRegistry()

  @Test("a unique value is made for each request")
  func unique() throws {
    registry.register { Clock() }
    #expect(try registry.resolve(Clock.self) !== registry.resolve(Clock.self))
  }

  @Test("a graph value is one for everything made by one resolve, and another for the next")
  func graph() throws {
    registry.register(Clock.self, scope: .graph) { Clock() }
    registry.register(Network.self, .autowire(Network.init))
    registry.register(Checkout.self, .autowire(Checkout.init))
    let first = try registry.resolve(Checkout.self)
    #expect(first.clock === first.network.clock)
    #expect(try registry.resolve(Checkout.self).clock !== first.clock)
  }

  @Test("a graph value is one for what one property's first read makes")
  func graphOfProperty() {
    final class Page { @Spell var checkout: Checkout }
    registry.register(Clock.self, scope: .graph) { Clock() }
    registry.register(Network.self, .autowire(Network.init))
    registry.register(Checkout.self, .autowire(Checkout.init))
    let page = registry.run { Page() }
    #expect(page.checkout.clock === page.checkout.network.clock)
  }

  @Test("a graph value of an Optional type is made, not taken for nil")
  func graphOfOptional() throws {
    registry.register(Int?.self, scope: .graph) { 5 }
    #expect(try registry.resolve(Int?.self) == 5)
  }

  @Test("a graph value of nil is made once in a graph")
  func graphOfNil() throws {
    let runs = Counter()
    registry.register(Int?.self, scope: .graph) {
      runs.increment()
      return nil
    }
    registry.register([Int?].self) { [try $0.resolve(), try $0.resolve()] }
    #expect(try registry.resolve([Int?].self) == [nil, nil])
    #expect(runs.value == 1)
  }

  @Test("a graph value of a registration that was replaced meanwhile does not pass for the new one's")
  func graphReplaced() throws {
    let registry = registry
    registry.register([Int].self) { resolver in
      var seen: [Int] = []
      for number in 0..<200 {
        registry.register(Ticket.self, scope: .graph) { Ticket(number) }
        seen.append(try resolver.resolve(Ticket.self).number)
      }
      return seen
    }
    #expect(try registry.resolve([Int].self) == Array(0..<200))
  }

  @Test("a graph that failed leaves nothing to the next")
  func graphAfterFailure() throws {
    let runs = Counter()
    registry.register(Ticket.self, scope: .graph) { Ticket(runs.increment()) }
    registry.register([Ticket].self) { resolver in
      let ticket = try resolver.resolve(Ticket.self)
      if ticket.number == 1 { throw Offline() }
      return [ticket]
    }
    #expect(registry.error(resolving: [Ticket].self)?.code == .initializerFailed)
    #expect(try registry.resolve([Ticket].self).first?.number == 2)
  }

  @Test("a value that isn't Sendable may be shared in a graph, if the user guarantees its isolation")
  func unsafeGraph() throws {
    final class Page { var number = 0 }
    registry.register(Page.self, scope: unsafe .unsafeGraph) { Page() }
    registry.register([Page].self) { [try $0.resolve(), try $0.resolve()] }
    let pages = try registry.resolve([Page].self)
    #expect(pages[0] === pages[1])
  }

  @Test("a singleton is one for all names and containers that its registration serves")
  func singleton() throws {
    registry.register(Clock.self, named: .containing("clock"), scope: .singleton) { Clock() }
    let wall = try registry.resolve(Clock.self, named: "wallClock")
    #expect(try registry.resolve(Clock.self, named: "clockOfPage", in: wall) === wall)
  }

  @Test("two registrations of a singleton have a value each")
  func twoSingletons() throws {
    registry.register(Clock.self, named: "a", scope: .singleton) { Clock() }
    registry.register(Clock.self, named: "b", scope: .singleton) { Clock() }
    #expect(try registry.resolve(Clock.self, named: "a") !== registry.resolve(Clock.self, named: "b"))
  }

  @Test("a weak value lives for as long as something holds it")
  func weak() throws {
    let runs = Counter()
    registry.register(Ticket.self, scope: .weak) { Ticket(runs.increment()) }
    var held: Ticket? = try registry.resolve()
    #expect(try registry.resolve(Ticket.self) === held)
    weak let gone = held
    held = nil
    #expect(gone == nil)
    #expect(try registry.resolve(Ticket.self).number == 2)
  }

  @Test("a weak value of a protocol type is shared while it is held, and released with its last holder")
  func weakProtocol() throws {
    registry.register((any Tracker).self, scope: .weak) { FileTracker() }
    var held: (any Tracker)? = try registry.resolve((any Tracker).self)
    #expect(try registry.resolve((any Tracker).self) === held)
    weak let gone = held
    held = nil
    #expect(gone == nil)
  }

  @Test("a weak value of a protocol with an argument is shared while it is held")
  func weakProtocolWithArgument() throws {
    registry.register((any Shelf<Int>).self, scope: .weak) { IntShelf() }
    let held = try registry.resolve((any Shelf<Int>).self)
    #expect(try registry.resolve((any Shelf<Int>).self) === held)
    registry.register((any Shelf<Int> & Sendable).self, scope: .weak) { IntShelf() }
  }

  @Test("scope weak of a type that can't be held weakly stops the program at the registration, with a sentence")
  func weakValueType() async {
    func message(_ result: ExitTest.Result?) -> String {
      text(result?.standardErrorContent)
    }
    let number = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry().register(Int.self, scope: .weak) { 5 }
    }
    #expect(message(number).contains("Int is registered with scope .weak, which is for classes"))
    #expect(message(number).contains("Choose .singleton or .cached(in:), or register a class."))
    #expect(message(number).contains("ScopeTests.swift:"))
    let optional = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry().register(Int?.self, scope: .weak) { 5 }
    }
    #expect(message(optional).contains("Int? is registered with scope .weak"))
    let error = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry().register((any Error).self, scope: .weak) { Offline() }
    }
    #expect(message(error).contains("any Error is registered with scope .weak"))
    let string = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry().register((any CustomStringConvertible & Sendable).self, scope: .weak) { 5 }
    }
    #expect(message(string).contains("scope .weak"))
    let metatype = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry().register((any Tracker.Type).self, scope: .weak) { FileTracker.self }
    }
    #expect(message(metatype).contains("scope .weak"))
    let source = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry().register((any Source<Int>).self, scope: .weak) { IntSource() }
    }
    #expect(message(source).contains("any Source<Int> is registered with scope .weak"))
  }

  @Test("scope weak holds Optionals of classes and of protocols that only classes conform to")
  func weakOptionals() throws {
    registry.register(Clock?.self, scope: .weak) { Clock() }
    registry.register((any Tracker)?.self, scope: .weak) { FileTracker() }
    var clock = try registry.resolve(Clock?.self)
    let tracker = try registry.resolve((any Tracker)?.self)
    #expect(clock != nil && tracker != nil)
    #expect(try registry.resolve(Clock?.self) === clock)
    #expect(try registry.resolve((any Tracker)?.self) === tracker)
    weak let gone = clock
    clock = nil
    #expect(gone == nil)
    #expect(try registry.resolve(Clock?.self) != nil)
  }

  @Test("a nil that an initializer returns is kept in no scope, so the next to ask makes another")
  func nothingIsNotKept() throws {
    let (runs, cache) = (Counter(), ScopeCache("cache"))
    let scopes: [Scope<Ticket?>] = [.singleton, .weak, .cached(in: cache), .singleton.expiring(after: .seconds(60))]
    for scope in scopes {
      let before = runs.value
      registry.register(Ticket?.self, scope: scope) {
        let run = runs.increment()
        return run - before < 3 ? nil : Ticket(run)
      }
      #expect(try registry.resolve(Ticket?.self) == nil)
      #expect(try registry.resolve(Ticket?.self) == nil)
      let made = try #require(try registry.resolve(Ticket?.self))
      #expect(try registry.resolve(Ticket?.self) === made)
      #expect(runs.value - before == 3)
    }
  }

  @Test("a cached value lives until its cache is reset, a value of another cache goes on")
  func cached() throws {
    let (session, process) = (ScopeCache("session"), ScopeCache("process"))
    registry.register(Clock.self, scope: .cached(in: session)) { Clock() }
    registry.register(Ticket.self, scope: .cached(in: process)) { Ticket(1) }
    let (clock, ticket) = (try registry.resolve(Clock.self), try registry.resolve(Ticket.self))
    session.reset()
    #expect(try registry.resolve(Clock.self) !== clock)
    #expect(try registry.resolve(Ticket.self) === ticket)
  }

  @Test("one cache empties registrations of several registries, and releases what it kept at once")
  func sharedCache() throws {
    let session = ScopeCache("session")
    let other = InitializerRegistry()
    for registry in [registry, other] {
      registry.register(Clock.self, scope: .cached(in: session)) { Clock() }
    }
    weak let first = try registry.resolve(Clock.self)
    weak let second = try other.resolve(Clock.self)
    #expect(first != nil && second != nil)
    session.reset()
    #expect(first == nil && second == nil)
  }

  @Test("an expiring value is kept before its age is over and made again after it")
  func expiring() throws {
    registry.register(Clock.self, scope: .singleton.expiring(after: .seconds(3600))) { Clock() }
    #expect(try registry.resolve(Clock.self) === registry.resolve(Clock.self))
    registry.register(Ticket.self, scope: .singleton.expiring(after: .zero)) { Ticket(1) }
    #expect(try registry.resolve(Ticket.self) !== registry.resolve(Ticket.self))
  }

  @Test("an expiring cached value is dropped by a reset, too")
  func expiringCached() throws {
    let session = ScopeCache("session")
    registry.register(Clock.self, scope: .cached(in: session).expiring(after: .seconds(3600))) { Clock() }
    let first = try registry.resolve(Clock.self)
    #expect(try registry.resolve(Clock.self) === first)
    session.reset()
    #expect(try registry.resolve(Clock.self) !== first)
  }

  @Test("a cache forgets registrations that are gone")
  func cacheOutlivesRegistry() throws {
    let session = ScopeCache("session")
    for _ in 0..<100 {
      let brief = InitializerRegistry()
      brief.register(Clock.self, scope: .cached(in: session)) { Clock() }
      weak let clock = try brief.resolve(Clock.self)
      #expect(clock != nil)
      brief.removeAll()
      #expect(clock == nil)
    }
    session.reset()
  }
}
