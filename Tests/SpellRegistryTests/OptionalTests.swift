import SpellRegistry
import TestSupport
import Testing

@Suite("Optional types") struct OptionalTests {
  let registry = InitializerRegistry()

  @Test("with nothing registered the answer is nil, and it is asked again next time")
  func missing() throws {
    #expect(try registry.resolve(Ticket?.self) == nil)
    registry.register { Ticket(1) }
    #expect(try registry.resolve(Ticket?.self)?.number == 1)
  }

  @Test("a property of an Optional type that was nil gets its value once it is registered, and keeps it")
  func property() throws {
    final class Page { @Spell var ticket: Ticket? }
    let page = registry.run { Page() }
    #expect(page.ticket == nil)
    registry.register { Ticket(1) }
    let ticket = try #require(page.ticket)
    #expect(page.ticket === ticket)
    registry.removeAll()
    #expect(page.ticket === ticket)
  }

  @Test("a nil that a registered initializer made isn't kept by a property, which asks again")
  func madeNil() {
    final class Page { @Spell var ticket: Ticket? }
    let runs = Counter()
    registry.register(Ticket?.self) {
      runs.increment()
      return runs.value < 3 ? nil : Ticket(runs.value)
    }
    let page = registry.run { Page() }
    #expect(page.ticket == nil)
    #expect(page.ticket == nil)
    #expect(!page.$ticket.hasValue)
    #expect(page.ticket?.number == 3)
    #expect(page.ticket?.number == 3)
  }

  @Test("a nil that a re-injection finds takes the place of a property's value")
  func madeNilLater() {
    final class Page { @Spell var ticket: Ticket? }
    registry.register(Ticket?.self) { Ticket(1) }
    let page = registry.run { Page() }
    #expect(page.ticket?.number == 1)
    registry.register(Ticket?.self) { nil }
    registry.reinject(Ticket?.self)
    #expect(page.ticket == nil)
    #expect(!page.$ticket.hasValue)
    registry.register(Ticket?.self) { Ticket(2) }
    #expect(page.ticket?.number == 2)
  }

  @Test("what is registered for the Optional itself comes before its wrapped type")
  func exact() throws {
    registry.register(Int.self) { 1 }
    registry.register(Int?.self) { 2 }
    #expect(try registry.resolve(Int?.self) == 2)
    #expect(try registry.resolve(Int.self) == 1)
  }

  @Test("an Optional protocol is served by an instance of any supertype")
  func supertypes() throws {
    registry.register(.instance(FileTracker("universal"), as: .anySupertype))
    #expect(try registry.resolve((any Tracker)?.self)?.label == "universal")
    #expect(try registry.resolve(Clock?.self) == nil)
  }

  @Test("what is registered for the wrapped type comes before an instance of any supertype")
  func exactBeforeSupertypes() throws {
    registry.register((any Tracker).self) { FileTracker("exact") }
    registry.register(.instance(FileTracker("universal"), as: .anySupertype))
    #expect(try registry.resolve((any Tracker).self).label == "exact")
    #expect(try registry.resolve((any Tracker)?.self)?.label == "exact")
  }

  @Test("an initializer of the wrapped type that fails, or lacks a dependency, is an error, not nil")
  func failing() {
    registry.register(Ticket.self) { throw Offline() }
    registry.register(Network.self, .autowire(Network.init))
    #expect(registry.error(resolving: Ticket?.self)?.code == .initializerFailed)
    #expect(registry.error(resolving: Network?.self)?.code == .notRegistered)
  }

  @Test("an Optional of a singleton is the singleton")
  func singleton() throws {
    registry.register(Clock.self, scope: .singleton) { Clock() }
    #expect(try registry.resolve(Clock?.self) === registry.resolve(Clock.self))
  }

  @Test("an Optional of an Optional looks through both")
  func nested() throws {
    #expect(try registry.resolve(Int??.self) == nil)
    registry.register(Int.self) { 4 }
    #expect(try registry.resolve(Int??.self) == 4)
    registry.register(Int?.self) { 5 }
    #expect(try registry.resolve(Int??.self) == 5)
  }

  @Test("an Optional instance serves the supertypes of the object in it, and an empty one none")
  func instanceForSupertypes() throws {
    let (full, empty) = (InitializerRegistry(), InitializerRegistry())
    empty.register(.instance(nil as FileTracker?, as: .anySupertype))
    #expect(empty.error(resolving: (any Tracker).self)?.code == .notRegistered)
    full.register(.instance(FileTracker("full") as FileTracker?, as: .anySupertype))
    #expect(try full.resolve((any Tracker).self).label == "full")
    full.register(.instance(FileTracker("any") as (any Tracker)?, as: .anySupertype))
    #expect(try full.resolve((any Tracker).self).label == "any")
  }
}
