import SpellRegistry
import TestSupport
import Testing

@Suite("A factory", .timeLimit(.hang)) struct FactoryTests {
  let registry = InitializerRegistry()

  @Test("gives its registration's hooks and the registry's each value that it makes, and no factory")
  func hooks() throws {
    let (made, completed, heard) = (Shared<[Int]>([]), Shared<[Int]>([]), Shared<[String]>([]))
    registry.register(.factory { (_, number: Int) in Ticket(number) })
      .onInjection { ticket, point in
        made.update { $0.append(ticket.number) }
        #expect(ObjectIdentifier(point.propertyType) == ObjectIdentifier(Ticket.self))
      }
      .onCompletion { ticket, _ in completed.update { $0.append(ticket.number) } }
    registry.onInjection { value, _ in heard.update { $0.append("\(type(of: value))") } }
    let factory = try registry.resolve(ArgumentFactory<Ticket, Int>.self)
    #expect(try registry.resolve(ArgumentFactory<Ticket, Int>?.self) != nil)
    #expect(made.value.isEmpty && heard.value.isEmpty)
    _ = try factory(1)
    _ = try registry.resolve(Ticket.self, arguments: 2)
    #expect(made.value == [1, 2])
    #expect(completed.value == [1, 2])
    #expect(heard.value == ["Ticket", "Ticket"])
  }

  @Test("of a declared key gives its registration's hooks, and the key's, what it makes")
  func keyHooks() throws {
    let heard = Shared<[String]>([])
    let key = InjectionKey(.factory { (_, number: Int) in Ticket(number) })
    _ = try registry.resolve(key, arguments: 1)
    registry.register(key, .factory { (_, number: Int) in Ticket(number + 10) })
      .onInjection { ticket, _ in heard.update { $0.append("registration \(ticket.number)") } }
    registry.onInjection { value, _ in heard.update { $0.append("registry \((value as? Ticket)?.number ?? 0)") } }
    #expect(try registry.resolve(key, arguments: 2).number == 12)
    #expect(heard.value == ["registration 12", "registry 12"])
  }

  @Test("has hooks whose requests share the values of scope graph with each other")
  func graphValues() throws {
    let (registry, isShared) = (registry, Counter())
    let compare: @Sendable () -> Void = {
      let (one, other) = (try? registry.resolve(Clock.self), try? registry.resolve(Clock.self))
      if one != nil && one === other { isShared.increment() }
    }
    registry.register(Clock.self, scope: .graph) { Clock() }
    registry.register(.factory { (_, number: Int) in Ticket(number) }).onInjection { _, _ in compare() }
    registry.onInjection { value, _ in if value is Ticket { compare() } }
    _ = try registry.resolve(Ticket.self, arguments: 1)
    _ = try registry.resolve(ArgumentFactory<Ticket, Int>.self)(2)
    #expect(isShared.value == 4)
  }

  @Test("that keeps values gives them to injection hooks at each call, and to completions once")
  func keptHooks() throws {
    let (made, completed) = (Counter(), Counter())
    registry.register(.factory(scope: .singleton) { (_, number: Int) in Ticket(number) })
      .onInjection { _, _ in made.increment() }
      .onCompletion { _, _ in completed.increment() }
    for _ in 0..<3 { _ = try registry.resolve(Ticket.self, arguments: 7) }
    #expect(made.value == 3)
    #expect(completed.value == 1)
  }

  @Test("that a program holds makes another value once the cache is reset")
  func reset() throws {
    let cache = ScopeCache("show")
    registry.register(.factory(scope: .cached(in: cache)) { (_, number: Int) in Ticket(number) })
    let factory = try registry.resolve(ArgumentFactory<Ticket, Int>.self)
    let first = try factory(1)
    #expect(try factory(1) === first)
    cache.reset()
    #expect(try factory(1) !== first)
    #expect(try registry.resolve(Ticket.self, arguments: 1) === factory(1))
  }

  @Test("makes a value each time for arguments that aren't equal to themselves, and keeps none of them")
  func unequal() throws {
    let gone = Counter()
    registry.register(.factory(scope: .singleton) { (_, _: Double) in Farewell { gone.increment() } })
    for _ in 0..<1_000 { _ = try registry.resolve(Farewell.self, arguments: Double.nan) }
    #expect(gone.value == 1_000)
    #expect(try registry.resolve(Farewell.self, arguments: 1.5) === registry.resolve(Farewell.self, arguments: 1.5))
  }

  @Test("that throws is an error that has the closure's own error once")
  func failure() throws {
    registry.register(.factory { (_, _: Int) -> Ticket in throw Offline() })
    let direct = #expect(throws: InjectionError.self) { try registry.resolve(Ticket.self, arguments: 1) }
    #expect(direct?.underlying is Offline && direct?.path == ["Ticket"])
    registry.register([Ticket].self) { [try $0.resolve(ArgumentFactory<Ticket, Int>.self)(1)] }
    let nested = registry.error(resolving: [Ticket].self)
    #expect(nested?.underlying is Offline && nested?.path == ["Array<Ticket>", "Ticket"])
  }

  @Test("of a child registry makes values from what the child has; kept ones are made where they are registered")
  func child() throws {
    registry.register { 1 }
    registry.register(.factory { (resolver, text: String) in "\(text) \(try resolver.resolve(Int.self))" })
    registry.register(
      .factory(scope: .singleton) { (resolver, text: Substring) in "\(text) \(try resolver.resolve(Int.self))" })
    let child = registry.child { $0.register { 2 } }
    #expect(try child.resolve(String.self, arguments: "a") == "a 2")
    #expect(try child.resolve(String.self, arguments: "a" as Substring) == "a 1")
  }

  @Test("whose values a parent keeps tells the parent's hook of each, whichever registry is asked")
  func parentHook() throws {
    registry.register(.factory { (_, number: Int) in Ticket(number) })
    registry.register(.factory(scope: .singleton) { (_, text: String) in Ticket(text.count) })
    let heard = Shared<[Int]>([])
    registry.onInjection { value, _ in heard.update { $0.append((value as? Ticket)?.number ?? 0) } }
    let child = InitializerRegistry(parent: registry)
    _ = try child.resolve(Ticket.self, arguments: 1)
    for _ in 0..<2 { _ = try child.resolve(Ticket.self, arguments: "four") }
    #expect(heard.value == [4, 4])
  }

  @Test("whose kept value lacks what only the asking child has is an error that says so")
  func childOnly() throws {
    registry.register(
      .factory(scope: .singleton) { (resolver, text: String) in Ticket(try resolver.resolve(Int.self) + text.count) })
    let child = registry.child { $0.register { 2 } }
    let error = #expect(throws: InjectionError.self) { try child.resolve(Ticket.self, arguments: "four") }
    #expect(error?.description.contains("in a child of the registry that keeps") == true)
  }

  @Test("can be decorated, whatever the scope of its values, which stay those of its registration")
  func decorated() throws {
    registry.register(Int.self) { 1 }
    registry.register(.factory(scope: .weak) { (_, number: Int) in Ticket(number) })
    registry.register(.factory(scope: .graph) { (resolver, _: String) in "\(try resolver.resolve(Int.self))" })
    let ticket = try registry.resolve(Ticket.self, arguments: 1)
    registry.decorate(ArgumentFactory<Ticket, Int>.self) { $0 }
    registry.decorate(ArgumentFactory<String, String>.self) { $0 }
    #expect(try registry.resolve(Ticket.self, arguments: 1) === ticket)
    let child = registry.child { $0.register(Int.self) { 2 } }
    #expect(try child.resolve(String.self, arguments: "") == "2")
    #expect(try registry.resolve(String.self, arguments: "") == "1")
  }

  @Test("that nothing registers is an error with a line that compiles")
  func missing() throws {
    let error = #expect(throws: InjectionError.self) { try registry.resolve((any Tracker).self, arguments: 1, "a") }
    let line = "registry.register(.factory { (resolver, argument1: Int, argument2: String) -> any Tracker in … })"
    #expect(error?.description.contains(line) == true)
    registry.register(
      .factory { (resolver, argument1: Int, argument2: String) -> any Tracker in FileTracker(argument2) })
    #expect(try registry.resolve((any Tracker).self, arguments: 1, "a").label == "a")
    #expect(registry.error(resolving: ArgumentFactory<Clock, Int>.self)?.path == ["ArgumentFactory<Clock, Int>"])
  }

  @Test("has no hook for the factory itself: it stops the program")
  func hookOfFactory() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry().register(.factory { (_, number: Int) in Ticket(number) })
        .onInjection { (_: ArgumentFactory<Ticket, Int>, _) in }
    }
    #expect(result.map { text($0.standardErrorContent).contains("Write a hook for its values") } == true)
  }

  @Test("that a closure returns, or that is decorated, has hooks for the factory; one for its values stops the program")
  func hookOfOthers() async throws {
    let heard = Counter()
    registry.register(.factory { (_, number: Int) in Ticket(number) })
    registry.decorate(ArgumentFactory<Ticket, Int>.self) { $0 }
      .onInjection { (_: ArgumentFactory<Ticket, Int>, _) in heard.increment() }
    _ = try registry.resolve(Ticket.self, arguments: 1)
    #expect(heard.value == 1)
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let registry = InitializerRegistry()
      registry.register(.factory { (_, number: Int) in Ticket(number) })
      let factory = try registry.resolve(ArgumentFactory<Ticket, Int>.self)
      InitializerRegistry().register(.instance(factory)).onCompletion { (_: Ticket, _) in }
    }
    #expect(result.map { text($0.standardErrorContent).contains("Add the hook to the registration that is") } == true)
  }
}
