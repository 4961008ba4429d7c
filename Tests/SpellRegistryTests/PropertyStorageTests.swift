import SpellRegistry
import TestSupport
import Testing

@Suite("A property's storage", .timeLimit(.hang)) struct PropertyStorageTests {
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

  @Test("a re-injected property has its old value until another thread has made the new one")
  func valueDuringReinjection() async {
    let (registry, runs, begun, finish) = (registry, Counter(), Latch(), Latch())
    registry.register(Ticket.self) {
      let run = runs.increment()
      if run == 2 {
        begun.open()
        finish.wait()
      }
      return Ticket(run)
    }
    let spell = registry.run { Spell<Ticket>() }
    #expect(!spell.storage.hasValue && spell.storage.value == nil)
    _ = spell.wrappedValue
    registry.reinject(Ticket.self)
    async let new = onThread { spell.wrappedValue.number }
    _ = await onThread { begun.wait() }
    #expect(spell.storage.hasValue)
    #expect(spell.storage.value?.number == 1)
    finish.open()
    #expect(await new == 2)
    #expect(spell.storage.value?.number == 2)
  }

  @Test("a value that fills its memory is there as it was stored")
  func small() {
    for number in 0..<10_000 {
      // This fills the memory that the storage may reuse.
      _ = [UInt8](repeating: 255, count: 64 + number % 128)
      let storage = Spell<Int32>().storage.replaced(with: Int32(number))
      #expect(storage.value == Int32(number))
    }
  }

  @Test("after a reset, by new storage or in place, the next read makes another", arguments: [true, false])
  func reset(byNewStorage: Bool) {
    let runs = Counter()
    registry.register { Ticket(runs.increment()) }
    let page = registry.run { Page() }
    #expect(page.ticket.number == 1)
    if byNewStorage { page.$ticket = page.$ticket.replacedWithNothing() } else { page.$ticket.forget() }
    #expect(!page.$ticket.hasValue && page.$ticket.value == nil)
    #expect(page.ticket.number == 2)
    #expect(page.ticket.number == 2)
  }

  @Test("a value that new storage takes the place of is released at once")
  func releaseAtOnce() {
    let page = registry.run { Page() }
    page.ticket = Ticket(1)
    weak let first = page.$ticket.value
    #expect(first != nil)
    page.ticket = Ticket(2)
    #expect(first == nil)
    weak let second = page.$ticket.value
    page.$ticket = page.$ticket.replacedWithNothing()
    #expect(second == nil)
  }

  @Test("of values that are forgotten in place the first is kept until the property goes, and no other")
  func releaseInPlace() {
    let made = Shared<[@Sendable () -> Bool]>([])
    registry.register {
      let ticket = Ticket(1)
      made.update { made in made.append { [weak ticket] in ticket != nil } }
      return ticket
    }
    do {
      let page = registry.run { Page() }
      for _ in 0..<10 {
        _ = page.ticket
        page.$ticket.forget()
      }
      #expect(made.value.map { $0() } == [true] + [Bool](repeating: false, count: 9))
    }
    #expect(made.value.count == 10)
    #expect(made.value.count(where: { $0() }) == 0)
  }

  @Test("a copy of the wrapper keeps its value when the property is assigned or reset")
  func copies() {
    registry.register { Ticket(1) }
    let page = registry.run { Page() }
    _ = page.ticket
    let copy = page.$ticket
    page.ticket = Ticket(2)
    #expect(copy.value?.number == 1)
    page.$ticket = page.$ticket.replacedWithNothing()
    #expect(copy.value?.number == 1)
  }

  @Test("a value that is forgotten while a thread makes it goes to that thread alone", arguments: [false, true])
  func forgottenWhileMade(isReinjected: Bool) async {
    let (registry, runs, begun, finish) = (registry, Counter(), Latch(), Latch())
    registry.register(Ticket.self) {
      let run = runs.increment()
      if run == (isReinjected ? 2 : 1) {
        begun.open()
        finish.wait()
      }
      return Ticket(run)
    }
    let spell = registry.run { Spell<Ticket>() }
    if isReinjected {
      _ = spell.wrappedValue
      registry.reinject(Ticket.self)
    }
    async let forgotten = onThread { spell.wrappedValue.number }
    _ = await onThread { begun.wait() }
    spell.storage.forget()
    #expect(!spell.storage.hasValue)
    let next = spell.wrappedValue.number
    finish.open()
    #expect(await forgotten == runs.value - 1)
    #expect(next == runs.value)
    #expect(spell.storage.value?.number == next)
  }

  @Test("of many threads that assign a property without a value, one succeeds")
  func vacancy() async {
    for _ in 0..<20 {
      let spell = registry.run { Spell<Ticket>() }
      let wins = await onThreads(8) { index in
        (try? spell.storage.store(Ticket(index), replacing: false)) == true ? index : nil
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
        if index == 0 { spell.storage.forget() }
        if index == 1 { registry.reinject(Ticket.self) }
        return spell.wrappedValue.number > 0
      }
    }
    #expect(!results.contains(false))
  }

  @Test("an initializer may assign or reset the property whose value it makes: the reader gets what it made")
  func assignedWhileMade() {
    let (page, runs) = (registry.run { Page() }, Counter())
    registry.register(
      Int.self,
      .in(Page.self) { page in
        let run = runs.increment()
        if run == 1 { page.number = 100 } else { page.$number = page.$number.replacedWithNothing() }
        return run
      })
    #expect(page.number == 1)
    #expect(page.number == 100)
    page.$number = page.$number.replacedWithNothing()
    #expect(page.number == 2)
    #expect(page.number == 3)
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

  @Test("a re-injection keeps the value if nothing is registered, and if the initializer throws")
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

  @Test("a re-injection of an instance's own type reaches the properties that it serves as a supertype")
  func reinjectSupertypes() {
    final class Screen {
      @Spell var tracker: any Tracker
      @Spell var optional: (any Tracker)?
    }
    registry.register(.instance(FileTracker("old"), as: .anySupertype))
    let screen = registry.run { Screen() }
    #expect(screen.tracker.label == "old")
    #expect(screen.optional?.label == "old")
    registry.register(.instance(FileTracker("new"), as: .anySupertype))
    registry.reinject(Clock.self)
    #expect(screen.tracker.label == "old")
    registry.reinject(FileTracker.self)
    #expect(screen.tracker.label == "new")
    #expect(screen.optional?.label == "new")
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
