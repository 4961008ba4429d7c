import SpellRegistry
import TestSupport
import Testing

extension InjectionKeys {
  fileprivate static let word = InjectionKey<String>(scope: .singleton) { "declared" }
}

@Suite("A registration that hides another", .timeLimit(.hang)) struct HidingTests {
  let registry = InitializerRegistry()
  private let place = SourcePlace(fileID: "Tests/HidingTests.swift", line: 1)

  @discardableResult private func hide(_ number: Int, named name: PropertyName? = nil) -> Registration<Ticket> {
    registry.hide(with: .init { Ticket(number) }, named: name, scope: .singleton, at: place)
  }

  private func number(named name: String? = nil) throws -> Int {
    try registry.resolve(Ticket.self, named: name).number
  }

  @Test("serves in its place, and what it hid serves again with the value that was kept")
  func valueStays() throws {
    let runs = Counter()
    registry.register(Ticket.self, scope: .singleton) { Ticket(runs.increment()) }
    let ticket = try registry.resolve(Ticket.self)
    let hiding = hide(7)
    #expect(try number() == 7)
    hiding.unregister()
    #expect(try registry.resolve(Ticket.self) === ticket)
    #expect(runs.value == 1)
  }

  @Test(
    "leaves what it hides as it was if several leave in any order",
    arguments: [[1, 2, 3], [3, 2, 1], [2, 3, 1], [1, 3, 2]])
  func anyOrder(_ order: [Int]) throws {
    registry.register(Ticket.self, scope: .singleton) { Ticket(0) }
    let ticket = try registry.resolve(Ticket.self)
    let registrations = (1...3).map { hide($0) }
    var left = [0, 1, 2, 3]
    for next in order {
      #expect(try number() == left.last)
      registrations[next - 1].unregister()
      left.removeAll { $0 == next }
    }
    #expect(try registry.resolve(Ticket.self) === ticket)
    for registration in registrations { registration.unregister() }
    #expect(try registry.resolve(Ticket.self) === ticket)
  }

  @Test("is the one that a later registration replaces, and what it hid stays hidden")
  func replacedAlone() throws {
    registry.register(Ticket.self, scope: .singleton) { Ticket(0) }
    let ticket = try registry.resolve(Ticket.self)
    let hiding = hide(1)
    let replacing = registry.register(Ticket.self) { Ticket(2) }
    #expect(try number() == 2)
    hiding.unregister()
    #expect(try number() == 2)
    replacing.unregister()
    #expect(try registry.resolve(Ticket.self) === ticket)
  }

  @Test("hides only what is for the same name, class and kind")
  func sameRequestsOnly() throws {
    registry.register(Ticket.self) { Ticket(0) }
    registry.register(Ticket.self, named: "own") { Ticket(5) }
    let hiding = hide(1)
    let named = hide(6, named: "own")
    #expect(try (number(), number(named: "own")) == (1, 6))
    hiding.unregister()
    #expect(try (number(), number(named: "own")) == (0, 6))
    named.unregister()
    #expect(try (number(), number(named: "own")) == (0, 5))
  }

  @Test("is as any other registration if there is nothing to hide")
  func nothingHidden() throws {
    let hiding = hide(1)
    #expect(try number() == 1)
    hiding.unregister()
    #expect(registry.error(resolving: Ticket.self)?.code == .notRegistered)
  }

  @Test("goes with what it hides when all registrations are removed")
  func removedTogether() throws {
    let ends = Counter()
    registry.register(Farewell.self, scope: .singleton) { Farewell { ends.increment() } }
    _ = try registry.resolve(Farewell.self)
    let hiding = registry.hide(with: .init { Farewell {} }, at: place)
    registry.removeAll()
    #expect(ends.value == 1)
    hiding.unregister()
    #expect(registry.error(resolving: Farewell.self)?.code == .notRegistered)
  }

  @Test("leaves a hidden value to be withdrawn, reset and made")
  func hiddenValueGoes() throws {
    let (cache, runs) = (ScopeCache("cache"), Counter())
    let hidden = registry.register(Ticket.self, scope: .cached(in: cache)) { Ticket(runs.increment()) }
    #expect(try number() == 1)
    var hiding = registry.hide(with: .wrapping { ticket, _ in Ticket(-ticket.number) }, at: place)
    #expect(try number() == -1)
    cache.reset()
    #expect(try number() == -2)
    #expect(try number() == -2)
    hidden.unregister()
    #expect(registry.error(resolving: Ticket.self)?.code == .notRegistered)
    hiding.unregister()
    hiding = hide(9)
    #expect(try number() == 9)
  }

  // MARK: The hidden value

  @Test("gets the value of what it hides, several in order")
  func wrapsInOrder() throws {
    registry.register(String.self) { "a" }
    let first = registry.hide(with: .wrapping { text, _ in text + "b" }, at: place)
    let second = registry.hide(with: .wrapping { text, _ in text + "c" }, at: place)
    #expect(try registry.resolve(String.self) == "abc")
    first.unregister()
    #expect(try registry.resolve(String.self) == "ac")
    second.unregister()
    #expect(try registry.resolve(String.self) == "a")
  }

  @Test("gets the parent's value if its registry has nothing to hide, and the parent's stays as it is")
  func parent() throws {
    registry.register(Ticket.self, scope: .singleton) { Ticket(4) }
    let child = InitializerRegistry(parent: registry)
    _ = child.hide(with: .wrapping { ticket, _ in Ticket(ticket.number + 1) }, scope: .singleton, at: place)
    #expect(try child.resolve(Ticket.self).number == 5)
    #expect(try child.resolve(Ticket.self) === child.resolve(Ticket.self))
    #expect(try number() == 4)
    // A newer registration of the parent is what the child's hides now.
    registry.register(Ticket.self) { Ticket(8) }
    let other = InitializerRegistry(parent: registry)
    _ = other.hide(with: .wrapping { ticket, _ in Ticket(ticket.number + 1) }, at: place)
    registry.register(Ticket.self) { Ticket(9) }
    #expect(try other.resolve(Ticket.self).number == 10)
  }

  @Test("gets the value of a declared key, an Optional's nil, and an instance of any supertype")
  func otherSources() throws {
    _ = registry.hide(with: .wrapping { text, _ in text + "!" }, for: .word, at: place)
    #expect(try registry.resolve(.word) == "declared!")
    _ = registry.hide(with: Initializer<Int?>.wrapping { number, _ in number ?? 3 }, at: place)
    #expect(try registry.resolve(Int?.self) == 3)
    registry.register(.instance(FileTracker("instance"), as: .anySupertype))
    _ = registry.hide(
      with: Initializer<any Tracker>.wrapping { tracker, _ in FileTracker("wrapped " + tracker.label) }, at: place)
    #expect(try registry.resolve((any Tracker).self).label == "wrapped instance")
  }

  @Test("that wraps a value fails if there is none, and with the error of what it hides")
  func failures() throws {
    _ = registry.hide(with: Initializer<Ticket>.wrapping { ticket, _ in ticket }, at: place)
    #expect(registry.error(resolving: Ticket.self)?.code == .notRegistered)
    let failing = InitializerRegistry()
    failing.register(Ticket.self) { throw Offline() }
    _ = failing.hide(with: Initializer<Ticket>.wrapping { ticket, _ in ticket }, at: place)
    #expect(failing.error(resolving: Ticket.self)?.underlying as? Offline == Offline())
  }

  @Test("that asks for its own type is a cycle")
  func cycle() {
    registry.register(Ticket.self) { Ticket(0) }
    _ = registry.hide(with: Initializer<Ticket>.wrapping { _, resolver in try resolver.resolve() }, at: place)
    #expect(registry.error(resolving: Ticket.self)?.code == .cycle)
  }

  @Test("asks the registry that was asked, if its value and the hidden one are kept by none")
  func askedRegistry() throws {
    registry.register(Network.self, .autowire(Network.init(clock:)))
    _ = registry.hide(with: Initializer<Network>.wrapping { network, _ in network }, at: place)
    let child = InitializerRegistry(parent: registry)
    child.register(Clock.self, scope: .singleton) { Clock() }
    #expect(try child.resolve(Network.self).clock === child.resolve(Clock.self))
  }

  // MARK: What the registry says

  @Test("is listed with what it hides")
  func listed() throws {
    registry.register(Ticket.self, scope: .singleton) { Ticket(0) }
    _ = try registry.resolve(Ticket.self)
    let hiding = hide(1)
    #expect("\(registry)".contains("with 2 registrations"))
    #expect("\(registry)".contains("Ticket: singleton, kept, hidden, at"))
    #expect("\(registry)".contains("Ticket: singleton, at Tests/HidingTests.swift:1"))
    #expect(try registry.resolveAll(Ticket.self).map(\.number) == [1])
    hiding.unregister()
    #expect(!"\(registry)".contains("hidden"))
  }

  // MARK: Threads

  @Test("comes and goes beside look-ups, each of which gets a value of one of those that were there")
  func besideLookUps() async throws {
    let registry = registry
    registry.register(Ticket.self, scope: .singleton) { Ticket(0) }
    let ticket = try registry.resolve(Ticket.self)
    let child = InitializerRegistry(parent: registry)
    let wrong = await onThreads(6) { [place] number -> Int in
      if number < 3 {
        for _ in 0..<repetitions(debug: 1_000, release: 10_000) {
          let hiding = registry.hide(with: .wrapping { ticket, _ in Ticket(ticket.number + 1) }, at: place)
          _ = try? registry.resolve(Ticket.self)
          hiding.unregister()
        }
        return 0
      }
      return (0..<repetitions(debug: 3_000, release: 30_000)).count { _ in
        guard let found = try? child.resolve(Ticket.self) else { return true }
        return !(0...3).contains(found.number) || found.number == 0 && found !== ticket
      }
    }
    #expect(wrong == [0, 0, 0, 0, 0, 0])
    #expect(try registry.resolve(Ticket.self) === ticket)
  }
}
