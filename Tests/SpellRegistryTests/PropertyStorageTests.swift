import SpellRegistry
import Testing

@Suite("A property's storage", .timeLimit(.minutes(1))) struct PropertyStorageTests {
  final class Page {
    @Spell var ticket: Ticket
    @Spell var number: Int
  }

  let registry = InitializerRegistry()

  @Test("an assigned value is the value, and nothing is made")
  func assigned() {
    let page = registry.run { Page() }
    page.ticket = Ticket(5)
    #expect(page.ticket.number == 5)
    page.ticket = Ticket(6)
    #expect(page.ticket.number == 6)
    #expect(page.$ticket.hasValue && page.$ticket.value?.number == 6)
  }

  @Test("after a reset the next read makes another", arguments: [true, false])
  func reset(exclusively: Bool) throws {
    let runs = Counter()
    registry.register { Ticket(runs.increment()) }
    let page = registry.run { Page() }
    #expect(page.ticket.number == 1)
    try page.$ticket.reset(exclusively: exclusively)
    #expect(!page.$ticket.hasValue && page.$ticket.value == nil)
    #expect(page.ticket.number == 2)
    #expect(page.ticket.number == 2)
  }

  @Test("a replaced value is released at once by an exclusive write, and with the property otherwise")
  func release() throws {
    weak var exclusive: Ticket?
    weak var shared: Ticket?
    do {
      let page = registry.run { Page() }
      page.ticket = Ticket(1)
      exclusive = page.$ticket.value
      #expect(exclusive != nil)
      page.ticket = Ticket(2)
      #expect(exclusive == nil)
      shared = page.$ticket.value
      try page.$ticket.assign(Ticket(3), exclusively: false)
      #expect(page.ticket.number == 3)
    }
    #expect(shared == nil)
  }

  @Test("of many threads that assign where nothing is, one does")
  func vacancy() async {
    for _ in 0..<20 {
      let spell = registry.run { Spell<Ticket>() }
      let wins = await onThreads(8) { index in (try? spell.storage.assignIfVacant(Ticket(index))) == true ? index : nil
      }
      #expect(wins.compactMap(\.self) == [spell.storage.value?.number].compactMap(\.self))
    }
  }

  @Test("threads that read while others reset get a whole value each time")
  func churn() async {
    let (registry, runs) = (registry, Counter())
    registry.register { Ticket(runs.increment()) }
    let spell = registry.run { Spell<Ticket>() }
    let results = await onThreads(8) { index -> Bool in
      (0..<300).allSatisfy { _ in
        if index == 0 { try? spell.storage.reset(exclusively: false) }
        if index == 1 { registry.reinject(Ticket.self) }
        return spell.wrappedValue.number > 0
      }
    }
    #expect(!results.contains(false))
  }

  @Test("assigning or resetting a property from the initializer that makes its value is an error, not a hang")
  func assignedWhileMade() {
    let page = registry.run { Page() }
    let codes = Shared<[InjectionError.Code]>([])
    registry.register(Int.self, in: Page.self) { page in
      do throws(InjectionError) { try page.$number.assign(1, exclusively: true) } catch {
        codes.update { $0.append(error.code) }
      }
      do throws(InjectionError) { try page.$number.reset(exclusively: true) } catch {
        codes.update { $0.append(error.code) }
      }
      return 7
    }
    #expect(page.number == 7)
    #expect(codes.value == [.cycle, .cycle])
  }

  @Test("a re-injection gives injected properties the new value, and leaves assigned ones")
  func reinject() {
    registry.register { Ticket(1) }
    let (page, assigned) = (registry.run { Page() }, registry.run { Page() })
    #expect(page.ticket.number == 1)
    assigned.ticket = Ticket(5)
    registry.register { Ticket(2) }
    #expect(page.ticket.number == 1)
    registry.reinject(Int.self)
    #expect(page.ticket.number == 1)
    registry.reinject(Ticket.self)
    #expect(page.ticket.number == 2)
    #expect(assigned.ticket.number == 5)
  }

  @Test("a re-injection keeps the value where nothing is registered, and where the initializer throws")
  func reinjectNothing() throws {
    registry.register { Ticket(1) }
    let page = registry.run { Page() }
    #expect(page.ticket.number == 1)
    registry.register(Ticket.self) { throw Offline() }
    registry.reinject(Ticket.self)
    #expect(throws: InjectionError.self) { try page.$ticket.makeValue(in: page, followsReinjection: true) }
    #expect(page.$ticket.value?.number == 1)
    registry.removeAll()
    registry.reinject(Ticket.self)
    #expect(page.ticket.number == 1)
  }

  @Test("a re-injection in the parent reaches the properties made under its children")
  func reinjectParent() {
    let child = InitializerRegistry(parent: registry)
    registry.register { Ticket(1) }
    let page = child.run { Page() }
    #expect(page.ticket.number == 1)
    registry.register { Ticket(2) }
    registry.reinject(Ticket.self)
    #expect(page.ticket.number == 2)
  }

  @Test("values are released with their object, once")
  func farewell() {
    let gone = Counter()
    final class Holder { @Spell var farewell: Farewell }
    registry.register { Farewell { gone.increment() } }
    do {
      let holder = registry.run { Holder() }
      _ = holder.farewell
      #expect(gone.value == 0)
    }
    #expect(gone.value == 1)
  }
}
