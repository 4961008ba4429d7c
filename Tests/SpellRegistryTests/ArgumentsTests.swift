import SpellRegistry
import TestSupport
import Testing

@Suite("Run-time arguments", .timeLimit(.hang)) struct ArgumentsTests {
  let registry = InitializerRegistry()

  @Test("the static type of the arguments is part of the key")
  func types() throws {
    registry.register(ArgumentFactory<String, Int>.self, .factory { _, number in "number \(number)" })
    registry.register(ArgumentFactory<String, String>.self, .factory { _, text in "text \(text)" })
    registry.register(ArgumentFactory<String, (Int, Bool)>.self, .factory { _, pair in "pair \(pair.0) \(pair.1)" })
    #expect(try registry.resolve(String.self, arguments: 7) == "number 7")
    #expect(try registry.resolve(String.self, arguments: "7") == "text 7")
    #expect(try registry.resolve(String.self, arguments: (7, true)) == "pair 7 true")
  }

  @Test("arguments that no initializer takes are an error that says what to register")
  func missing() {
    registry.register(ArgumentFactory<Ticket, Int>.self, .factory { Ticket($1) })
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Ticket.self, arguments: "7") }
    #expect(error?.code == .notRegistered)
    #expect(error?.description.contains("for this: ArgumentFactory<Ticket, Int>, at") == true)
    #expect(
      error?.description.contains("registry.register(.factory { (resolver, argument: String) -> Ticket in … })") == true
    )
  }

  @Test("a request without arguments never gets what takes some, nor the reverse")
  func apart() throws {
    registry.register(ArgumentFactory<Ticket, Int>.self, .factory { Ticket($1) })
    #expect(registry.error(resolving: Ticket.self)?.code == .notRegistered)
    #expect(try registry.resolve(Ticket?.self) == nil)
    #expect(try registry.resolveAll(Ticket.self).isEmpty)
    registry.register { Ticket(0) }
    #expect(try registry.resolve(Ticket.self).number == 0)
    #expect(try registry.resolve(Ticket.self, arguments: 3).number == 3)
  }

  @Test("an Optional is nil only if nothing takes the arguments: a failure is an error")
  func optional() throws {
    #expect(try registry.resolve(Ticket?.self, arguments: 1) == nil)
    registry.register(
      ArgumentFactory<Ticket, Int>.self,
      .factory { _, number in
        if number < 0 { throw Offline() }
        return Ticket(number)
      })
    #expect(try registry.resolve(Ticket?.self, arguments: 1)?.number == 1)
    let wrongType = #expect(throws: InjectionError.self) { try registry.resolve(Ticket?.self, arguments: "1") }
    #expect(wrongType?.description.contains("Registered, but not for this: ArgumentFactory<Ticket, Int>, at") == true)
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Ticket?.self, arguments: -1) }
    #expect(error?.underlying is Offline)
    registry.register(
      ArgumentFactory<Ticket, Bool>.self,
      .factory { resolver, _ in
        _ = try resolver.resolve(Clock.self)
        return Ticket(1)
      })
    let missing = #expect(throws: InjectionError.self) { try registry.resolve(Ticket?.self, arguments: true) }
    #expect(missing?.code == .notRegistered)
    #expect(missing?.path.last == "Clock")
  }

  @Test("an initializer of an Optional type with arguments comes before one of the wrapped type")
  func optionalInitializer() throws {
    registry.register(ArgumentFactory<Ticket, Int>.self, .factory { Ticket($1) })
    registry.register(
      ArgumentFactory<Ticket?, Int>.self, .factory { _, number in number == 0 ? nil : Ticket(number * 10) })
    #expect(try registry.resolve(Ticket?.self, arguments: 0) == nil)
    #expect(try registry.resolve(Ticket?.self, arguments: 2)?.number == 20)
  }

  @Test("an initializer may call itself with changing arguments until it ends")
  func recursion() throws {
    registry.register(
      ArgumentFactory<Int, Int>.self,
      .factory { resolver, depth in
        depth == 0 ? 0 : try resolver.resolve(Int.self, arguments: depth - 1) + 1
      })
    #expect(try registry.resolve(Int.self, arguments: 90) == 90)
  }

  /// Returns the error of a factory that calls itself with ever new arguments.
  private func endlessError() async -> InjectionError? {
    let registry = registry
    return await onThread(stackSize: 8 << 20) {
      do throws(InjectionError) {
        _ = try registry.resolve(Int.self, arguments: 0)
        return nil
      } catch { return error }
    }
  }

  @Test("a recursion by arguments without end is a cycle, never an overflow")
  func endless() async throws {
    registry.register(ArgumentFactory<Int, Int>.self, .factory { try $0.resolve(Int.self, arguments: $1 + 1) })
    let error = await endlessError()
    #expect(error?.code == .cycle)
    #expect(error?.path == ["Int", "Int"])
    #expect(error?.description.contains("The factory calls itself") == true)
  }

  @Test("the error of a recursion by arguments that would end says that it needs a larger stack, which is enough")
  func deep() async throws {
    let registry = registry
    registry.register(
      ArgumentFactory<Int, Int>.self, .factory { $1 == 0 ? 0 : try $0.resolve(Int.self, arguments: $1 - 1) + 1 })
    let advice = await onThread(stackSize: 1 << 20) { () -> String? in
      do throws(InjectionError) {
        _ = try registry.resolve(Int.self, arguments: 3_000)
        return nil
      } catch { return error.description }
    }
    #expect(advice?.contains("it needs a larger stack") == true)
    #expect(await onThread(stackSize: 256 << 20) { try? registry.resolve(Int.self, arguments: 3_000) } == 3_000)
  }

  @Test("two factories that call each other with ever new arguments are a cycle with its path, never an overflow")
  func endlessPair() async {
    registry.register(ArgumentFactory<Int, Int>.self, .factory { try $0.resolve(String.self, arguments: $1 + 1).count })
    registry.register(ArgumentFactory<String, Int>.self, .factory { "\(try $0.resolve(Int.self, arguments: $1 + 1))" })
    let error = await endlessError()
    #expect(error?.code == .cycle)
    #expect(error?.path.count == 3 && error?.path.first == error?.path.last)
  }

  @Test("each call makes a new value, with dependencies from the resolver")
  func dependencies() throws {
    registry.register(Clock.self, scope: .singleton) { Clock() }
    registry.register(
      ArgumentFactory<Network, Void>.self, .factory { resolver, _ in Network(clock: try resolver.resolve()) })
    let first = try registry.resolve(Network.self, arguments: ())
    let second = try registry.resolve(Network.self, arguments: ())
    #expect(first !== second)
    #expect(first.clock === second.clock)
  }

  @Test("an initializer with arguments that throws is an error with its path")
  func failing() throws {
    registry.register(ArgumentFactory<Ticket, Int>.self, .factory { _, _ in throw Offline() })
    registry.register([Ticket].self) { [try $0.resolve(Ticket.self, arguments: 1)] }
    let error = try #require(registry.error(resolving: [Ticket].self))
    #expect(error.code == .initializerFailed)
    #expect(error.path == ["Array<Ticket>", "Ticket"])
    #expect(error.underlying as? Offline == Offline())
  }

  @Test("an error over several arguments says how to register them")
  func adviceOnSeveral() {
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Ticket.self, arguments: 1, "a", 2.0) }
    let advice = """
      registry.register(.factory { (resolver, argument1: Int, argument2: String, argument3: Double) -> Ticket in … })
      """
    #expect(error?.description.contains(advice) == true, "\(error.map { "\($0)" } ?? "")")
  }

  @Test("the static type of an argument chooses the factory, also for a variable of a protocol type")
  func staticTypes() throws {
    registry.register(.factory { (_, animal: any Animal) in "some \(animal.name)" })
    registry.register(.factory { (_, cat: Cat) in "the \(cat.name)" })
    for animal in [Cat(), Dog()] as [any Animal] {
      #expect(try registry.resolve(String.self, arguments: animal) == "some \(animal.name)")
    }
    #expect(try registry.resolve(String.self, arguments: Cat()) == "the cat")
    #expect(try registry.resolve(String.self, arguments: Cat() as any Animal) == "some cat")
    registry.register(.factory { (_, count: Int, animal: any Animal) in "\(count) \(animal.name)s" })
    let dog: any Animal = Dog()
    #expect(try registry.resolve(String.self, arguments: 2, dog) == "2 dogs")
  }

  @Test("a request with a key and arguments calls the key's factory, or the one that is registered for the key")
  func key() throws {
    #expect(try registry.resolve(.kennel, arguments: 2, Dog()) == "2.0 dogs")
    let cat: any Animal = Cat()
    #expect(try registry.resolve(.kennel, arguments: 3, cat) == "3.0 cats")
    registry.register { try Text($0.resolve(.kennel, arguments: 1, cat, named: "home")) }
    #expect(try registry.resolve(Text.self).text == "1.0 cats")
    registry.register(.kennel, named: "home", .factory { _, count, animal in "home \(animal.name)" })
    #expect(try registry.resolve(Text.self).text == "home cat")
    #expect(try registry.resolve(.kennel, arguments: 3, cat) == "3.0 cats")
  }

  @Test("the error of a key's factory has the path through the key")
  func failingKey() throws {
    registry.register(.kennel, .factory { _, _, _ in throw Offline() })
    registry.register { try Text($0.resolve(.kennel, arguments: 1, Cat())) }
    let error = try #require(registry.error(resolving: Text.self))
    #expect(error.code == .initializerFailed)
    #expect(error.path == ["Text", "String"])
    #expect(error.underlying is Offline)
  }
}

private protocol Animal: Sendable { var name: String { get } }
private struct Cat: Animal { let name = "cat" }
private struct Dog: Animal { let name = "dog" }
private struct Text: Sendable {
  let text: String
  init(_ text: String) { self.text = text }
}

extension InjectionKeys {
  fileprivate static let kennel = InjectionKey(
    .factory { (_, count: Double, animal: any Animal) in "\(count) \(animal.name)s" })
}
