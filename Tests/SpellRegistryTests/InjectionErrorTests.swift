import SpellRegistry
import TestSupport
import Testing

/// Returns the place of a registration, as messages spell it.
private func place(_ line: UInt) -> String { "SpellRegistryTests/InjectionErrorTests.swift:\(line)" }

private protocol Unknown {}
private struct Trackers { let all: [any Tracker] }

@Suite("What errors say", .timeLimit(.hang)) struct InjectionErrorTests {
  let registry = InitializerRegistry()

  @Test("a type that nothing is registered for: what to write")
  func missing() {
    #expect(
      registry.error(resolving: Clock.self)?.description == """
        No initializer is registered for Clock.
          Register it before it is asked for: registry.register(Clock.self) { … }
        """)
    #expect(
      registry.error(resolving: (any Tracker).self)?.description == """
        No initializer is registered for any Tracker.
          Register it before it is asked for: registry.register((any Tracker).self) { … }
        """)
  }

  @Test("an array that nothing is registered for: what is registered for its elements, and the line to write")
  func array() throws {
    let line: UInt = #line + 1
    registry.register((any Tracker).self, named: "first") { FileTracker() }
    #expect(
      registry.error(resolving: [any Tracker].self)?.description == """
        No initializer is registered for Array<Tracker>.
          Registered for the elements: any Tracker named "first" at \(place(line)). registry.resolveAll((any Tracker).self) \
        returns one value of each of these registrations. To get that array here, register it: \
        registry.register([any Tracker].self) { try $0.resolveAll((any Tracker).self) }
        """)
    registry.register(.autowire(Trackers.init))
    let needed = try #require(registry.error(resolving: Trackers.self)?.description)
    #expect(needed.contains("registry.register([any Tracker].self) { try $0.resolveAll((any Tracker).self) }"))
    registry.register([any Tracker].self) { try $0.resolveAll((any Tracker).self) }
    #expect(try registry.resolve(Trackers.self).all.count == 1)
    #expect(
      registry.error(resolving: [any Unknown].self)?.description.contains(
        "Nothing is registered for any Unknown either.")
        == true)
    #expect(
      registry.error(resolving: [Clock].self)?.description.contains("registry.register(Array<Clock>.self) { … }")
        == true)
  }

  @Test("a missing dependency: who needs it, the path, and where each was registered")
  func missingDependency() {
    let line: UInt = #line + 1
    registry.register(Network.self, .autowire(Network.init))
    #expect(
      registry.error(resolving: Network.self)?.description == """
        No initializer is registered for Clock, which Network needs.
          Path: Network → Clock
            Network: registered at \(place(line))
          Register it before it is asked for: registry.register(Clock.self) { … }
        """)
  }

  @Test("a type that is registered for others: which, and where")
  func nearMatches() {
    let line: UInt = #line + 1
    registry.register(Clock.self, named: "wall") { Clock() }
    registry.register(Clock.self, .in(Ticket.self, subclasses: true) { _ in Clock() })
    registry.register(Clock.self, named: .containing("sand")) { Clock() }
    registry.register(ArgumentFactory<Clock, Int>.self, .factory { _, _ in Clock() })
    registry.register(Int.self) { 1 }
    #expect(
      registry.error(resolving: Clock.self)?.description == """
        No initializer is registered for Clock.
          Registered, but not for this: Clock named "wall", at \(place(line)).
          Registered, but not for this: Clock in Ticket and its subclasses, at \(place(line + 1)).
          Registered, but not for this: Clock named .containing("sand"), at \(place(line + 2)).
          A factory of it is registered at \(place(line + 3)): pass arguments, resolve(Clock.self, arguments: …).
          Register it before it is asked for: registry.register(Clock.self) { … }
        """)
  }

  @Test("a type whose name is nearly that of one that is registered: which, and where")
  func similar() {
    let line: UInt = #line + 1
    registry.register(FileTracker.self) { FileTracker() }
    let error = registry.error(resolving: (any Tracker).self)
    #expect(
      error?.description.contains(
        "A conforming type, FileTracker, is registered at \(place(line)): register it for any Tracker, with "
          + "registry.register((any Tracker).self) { … }.") == true)
    registry.register(String.self) { "" }
    #expect(
      registry.error(resolving: Substring.self)?.description.contains("Registered, but not for this: String") == true)
  }

  @Test("a misspelled name: the name that was meant, and a line that keeps the name")
  func misspelt() {
    let line: UInt = #line + 1
    registry.register(Clock.self, named: "backup") { Clock() }
    #expect(
      registry.error(resolving: Clock.self, named: "bakcup")?.description == """
        No initializer is registered for Clock named "bakcup".
          Registered, but not for this: Clock named "backup", at \(place(line)). Did you mean "backup"?
          Register it before it is asked for: registry.register(Clock.self, named: "bakcup") { … }
        """)
  }

  private class Animal { init() {} }
  private final class Dog: Animal {}
  private class Page {
    let ticket = PropertyStorage<Clock>(at: SourcePlace(fileID: #fileID, line: #line))
  }
  private final class SpecialPage: Page {}

  @Test("a class whose subclass is registered: where, and the line to write")
  func subclass() {
    let line: UInt = #line + 1
    registry.register { Dog() }
    let description = registry.error(resolving: Animal.self)?.description
    #expect(
      description?.contains(
        "A subclass, Dog, is registered at \(place(line)): register it for Animal, with "
          + "registry.register(Animal.self)")
        == true)
  }

  @Test("a type of which a function is registered, as by `{ Clock.init }`: where, and to call it")
  func function() {
    let line: UInt = #line + 1
    registry.register { Clock.init }
    registry.register { FileTracker.init }
    registry.register { Network.init(clock:) }
    func advice(_ type: String, _ line: UInt) -> String {
      """
      A function that returns \(type) is registered at \(place(line)), and not its result: call it in the closure, as in \
      { T() }, or write .autowire(T.init).
      """
    }
    func description<Value>(_ type: Value.Type) -> String { registry.error(resolving: type)?.description ?? "" }
    #expect(description(Clock.self).contains(advice("Clock", line)))
    #expect(description((any Tracker).self).contains(advice("FileTracker", line + 1)))
    #expect(description(Network.self).contains(advice("Network", line + 2)))
    let another = description(((Int) -> Clock).self)
    #expect(another.contains("() -> Clock, at \(place(line))."))
  }

  @Test("a closure that returns nothing: where it is registered, and to return the value")
  func nothing() {
    let line: UInt = #line + 1
    registry.register { _ = Clock() }
    let description = registry.error(resolving: Clock.self)?.description ?? ""
    #expect(description.contains("A closure that returns nothing is registered at \(place(line)): return the value"))
  }

  @Test("a subclass's property, for whose superclass it is registered: where, and what to add")
  func superclassContainer() {
    let line: UInt = #line + 1
    registry.register(.in(Page.self) { _ in Clock() })
    let page = registry.run { SpecialPage() }
    let error = #expect(throws: InjectionError.self) { try page.ticket.resolve(in: page) }
    #expect(
      error?.description.contains(
        "Registered for Page and not for its subclasses, at \(place(line)): add `subclasses: true` to it.") == true)
  }

  enum Shelf {
    struct Book {}
    struct Row<Item> {}
    protocol Item {}
    struct `in` {}
  }

  @Test("a type in source code: with the types it is nested in, and in parentheses where `.self` or `?` needs them")
  func typeInSource() {
    struct Local {}
    #expect(TypeName.source(of: Shelf.Book.self) == "InjectionErrorTests.Shelf.Book.self")
    #expect(TypeName.source(of: (any Shelf.Item)?.self) == "(any InjectionErrorTests.Shelf.Item)?.self")
    #expect(TypeName.source(of: Shelf.Row<Int>.self) == "InjectionErrorTests.Shelf.Row<Int>.self")
    #expect(TypeName.source(of: String.Index.self) == "String.Index.self")
    #expect(TypeName.source(of: Page.self) == "Page.self")
    #expect(TypeName.source(of: Local.self) == "Local.self")
    #expect(TypeName.source(of: Void.self) == "Void.self")
    #expect(TypeName.source(of: Shelf.`in`.self) == "InjectionErrorTests.Shelf.`in`.self")
    #expect(TypeName.source(of: (any Sequence<Int>).self) == "(any Sequence<Int>).self")
    #expect(TypeName.source(of: (() -> Clock).self) == "(() -> Clock).self")
    #expect(TypeName.source(of: (() -> Int)?.self) == "(() -> Int)?.self")
    #expect(TypeName.source(of: [() -> Int].self) == "Array<() -> Int>.self")
    #expect(TypeName.source(of: (Int, String).self) == "(Int, String).self")
    #expect(TypeName.of((() -> Int)?.self) == "(() -> Int)?")
    #expect(TypeName.of(Shelf.Book.self) == "Book")
  }

  @Test("a property without a container: the place of its declaration")
  func placeAlone() {
    let line: UInt = #line + 1
    let storage = registry.run { PropertyStorage<Clock>(at: SourcePlace(fileID: #fileID, line: line)) }
    let error = #expect(throws: InjectionError.self) { try storage.resolve(in: nil) }
    #expect(error?.description.hasPrefix("No initializer is registered for Clock (\(place(line))).") == true)
  }

  @Test("a registry as text: a line for each registration, here and in the parents")
  func registryDescription() throws {
    let line: UInt = #line + 1
    registry.register(Clock.self, scope: .singleton) { Clock() }
    _ = try registry.resolve(Clock.self)
    let child = InitializerRegistry(parent: registry, context: .test)
    child.register(named: "seven", .instance(7))
    #expect(
      child.description == """
        Registry for context .test, with 1 registration:
          Int named "seven": instance, at \(place(line + 3))
        Parent, with 1 registration:
          Clock: singleton, kept, at \(place(line))
        """)
    #expect(InitializerRegistry().description == "Registry, with 0 registrations")
  }

  @Test("a name that isn't registered: which was asked for, and the nearest of many that are")
  func nearestName() {
    for index in 0..<20 { registry.register(Clock.self, named: .equal(to: "clock\(index)xyz")) { Clock() } }
    let line: UInt = #line + 1
    registry.register(Clock.self, named: "wallClock") { Clock() }
    let description = registry.error(resolving: Clock.self, named: "walClock")?.description
    #expect(
      description == """
        No initializer is registered for Clock named "walClock".
          Registered, but not for this: Clock named "wallClock", at \(place(line)). Did you mean "wallClock"?
          21 registrations are similar; the rest are left out here.
          Register it before it is asked for: registry.register(Clock.self, named: "walClock") { … }
        """)
  }

  @Test("of many registrations that are similar, the newest three are listed, the oldest of them first")
  func newest() {
    for index in 0..<20 { registry.register(Clock.self, named: .equal(to: "clock\(index)xyz")) { Clock() } }
    let description = registry.error(resolving: Clock.self)?.description ?? ""
    let listed = (0..<20).filter { description.contains("Clock named \"clock\($0)xyz\", at") }
    #expect(listed == [17, 18, 19])
    let names = listed.compactMap { description.firstRange(of: "clock\($0)xyz")?.lowerBound }
    #expect(names == names.sorted())
  }

  @Test("an error says the same whatever is registered after it was thrown, and keeps neither registry nor values")
  func complete() throws {
    weak var gone: InitializerRegistry?
    weak var value: Ticket?
    let (error, description) = try {
      let registry = InitializerRegistry()
      registry.register(Ticket.self, scope: .singleton) { Ticket(1) }
      (gone, value) = (registry, try registry.resolve())
      let error = try #require(registry.error(resolving: Clock.self))
      let description = error.description
      registry.register(Clock.self, named: "later") { Clock() }
      return (error, description)
    }()
    #expect(gone == nil && value == nil)
    #expect(error.description == description)
  }

  @Test("an initializer that throws for a property: for which, where that is declared, and where it was registered")
  func failedForProperty() {
    final class Page { @Spell(line: 7) var clock: Clock }
    let line: UInt = #line + 1
    registry.register(Clock.self) { throw Offline() }
    let page = registry.run { Page() }
    let error = #expect(throws: InjectionError.self) { try page.$clock.resolve(in: page) }
    #expect(
      error?.description == """
        The initializer of Clock for Page.clock (SpellRegistryTests/Spell.swift:7) threw Offline().
          Path: Clock
            Clock: for Page.clock, declared at SpellRegistryTests/Spell.swift:7, registered at \(place(line))
          Nothing was kept, so the next request runs it again. Correct it, or handle the error: \
        do { try registry.resolve(Clock.self) } catch { … }.
        """)
  }

  @Test("a cycle: its path, and where each type was registered")
  func circle() {
    let line: UInt = #line + 1
    registry.register(Int.self) { try $0.resolve(String.self).count }
    registry.register(String.self) { "\(try $0.resolve(Int.self))" }
    #expect(
      registry.error(resolving: Int.self)?.description == """
        The initializer of Int needs its own result: Int → String → Int.
            Int: registered at \(place(line))
            String: registered at \(place(line + 1))
          Let String ask for it after `init`, by a constant: let later = Injected<Int>(), later.value. Or give it in \
        .onCompletion { value, resolver in … }.
        """)
  }

  @Test("an initializer that throws an error whose text is a sentence: it ends with one full stop")
  func failedWithASentence() {
    struct Refused: Error, CustomStringConvertible { let description = "The host refuses." }
    registry.register(Int.self) { throw Refused() }
    let description = registry.error(resolving: Int.self)?.description
    #expect(description?.hasPrefix("The initializer of Int threw The host refuses.\n") == true)
  }

  @Test("an initializer that throws: what, and the way there")
  func failed() {
    let line: UInt = #line + 1
    registry.register(Int.self) { throw Offline() }
    registry.register(String.self) { "\(try $0.resolve(Int.self))" }
    #expect(
      registry.error(resolving: String.self)?.description == """
        The initializer of Int threw Offline().
          Path: String → Int
            String: registered at \(place(line + 1))
            Int: registered at \(place(line))
          Nothing was kept, so the next request runs it again. Correct it, or handle the error: \
        do { try registry.resolve(String.self) } catch { … }.
        """)
  }

  @Test("an async initializer that has not finished: what to await")
  func notReady() {
    let line: UInt = #line + 1
    registry.register(Clock.self, scope: .singleton, .async { Clock() })
    #expect(
      registry.error(resolving: Clock.self)?.description == """
        The value of Clock comes from an async initializer and isn't there.
          Path: Clock
            Clock: registered at \(place(line))
          Await it first: try await registry.resolveAsync(Clock.self).
        """)
  }

  @Test("a main-actor initializer elsewhere: that it is one, and where it was registered")
  func wrongIsolation() async {
    let registry = registry
    let line: UInt = #line + 1
    registry.register(Clock.self, .onMainActor { _ in Clock() })
    let description = await onThread { registry.error(resolving: Clock.self)?.description }
    #expect(
      description == """
        The value of Clock belongs to the main actor, and was asked for from elsewhere.
          Path: Clock
            Clock: registered at \(place(line))
          Ask for it on the main actor, or await it: try await registry.resolveAsync(Clock.self).
        """)
  }

  @Test("a property: its class and name, and where it is declared")
  func property() {
    final class Page {
      @Spell(line: 7) var clock: Clock
    }
    registry.register(Clock.self) { throw Offline() }
    let page = registry.run { Page() }
    let error = #expect(throws: InjectionError.self) { try page.$clock.resolve(in: page) }
    #expect(error?.path == ["Clock"])
    #expect(error?.description.hasPrefix("The initializer of Clock for Page.clock (") == true)
    #expect(error?.description.contains("declared at SpellRegistryTests/Spell.swift:7") == true)
  }

  @Test("a read that cannot throw stops the program with all of it, and what was being made")
  func trap() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Page { @Spell var clock: Clock }
      let registry = InitializerRegistry()
      registry.register(Ticket.self) { resolver in
        _ = resolver.registry.run { Page() }.clock
        return Ticket(1)
      }
      _ = try? registry.resolve(Ticket.self)
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains("No initializer is registered for Clock for Page.clock"))
    #expect(message.contains("registry.register(Clock.self) { … }"))
    #expect(message.contains("Read while making: Ticket"))
    #expect(message.contains("`try $clock.resolve()` can, and throws this error."))
  }

  @Test("an error that passes through several registries keeps its path and its cause")
  func nested() {
    let inner = InitializerRegistry()
    inner.register(Int.self) { throw Offline() }
    registry.register(String.self) { "\(try inner.resolve(Int.self))" }
    let error = registry.error(resolving: String.self)
    #expect(error?.code == .initializerFailed)
    #expect(error?.path == ["String", "Int"])
    #expect(error?.underlying as? Offline == Offline())
  }
}
