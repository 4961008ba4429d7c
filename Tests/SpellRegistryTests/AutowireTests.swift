import SpellRegistry
import TestSupport
import Testing

@Suite("Autowiring") struct AutowireTests {
  let registry = InitializerRegistry()

  @Test("an initializer without parameters, with one and with seven is called with what is registered")
  func parameters() throws {
    registry.register(Int.self) { 1 }
    registry.register(String.self) { "two" }
    registry.register(Bool.self) { true }
    registry.register(Clock.self, .autowire(Clock.init))
    registry.register(Ticket.self, .autowire(Ticket.init))
    registry.register(
      [String].self,
      .autowire({ (a: Int, b: String, c: Bool, d: Int, e: String, f: Bool, g: Int) in
        ["\(a)", b, "\(c)", "\(d)", e, "\(f)", "\(g)"]
      }))
    _ = try registry.resolve(Clock.self)
    #expect(try registry.resolve(Ticket.self).number == 1)
    #expect(try registry.resolve([String].self) == ["1", "two", "true", "1", "two", "true", "1"])
  }

  @Test("an initializer of one to five parameters gets what they are")
  func dependencies() throws {
    registry.register(Int.self) { 1 }
    registry.register(String.self) { "two" }
    registry.register(Bool.self) { true }
    registry.register([Int].self, .autowire({ (a: Int) in [a] }))
    registry.register([String].self, .autowire({ (a: Int, b: String) in ["\(a)", b] }))
    registry.register([Bool].self, .autowire({ (a: Int, b: String, c: Bool) in [a == 1, b == "two", c] }))
    registry.register(
      [Int: Bool].self, .autowire({ (a: Int, b: String, c: Bool, d: Int) in [a: b == "two", d + 1: c] }))
    registry.register(
      [Int: Int].self,
      .autowire({ (a: Int, b: String, c: Bool, d: [Int], e: Int) in [a: b.count, d[0] + e: c ? 1 : 0] }))
    #expect(try registry.resolve([Int].self) == [1])
    #expect(try registry.resolve([String].self) == ["1", "two"])
    #expect(try registry.resolve([Bool].self) == [true, true, true])
    #expect(try registry.resolve([Int: Bool].self) == [1: true, 2: true])
    #expect(try registry.resolve([Int: Int].self) == [1: 3, 2: 1])
  }

  @Test("dependencies are resolved in the order of the parameters, and none after the first that fails")
  func order() throws {
    let runs = Shared<[String]>([])
    registry.register(Int.self) {
      runs.update { $0.append("Int") }
      return 1
    }
    registry.register(String.self) {
      runs.update { $0.append("String") }
      throw Offline()
    }
    registry.register(Bool.self) {
      runs.update { $0.append("Bool") }
      return true
    }
    registry.register(Ticket.self, .autowire({ (number: Int, _: String, _: Bool) in Ticket(number) }))
    let error = try #require(registry.error(resolving: Ticket.self))
    #expect(error.path == ["Ticket", "String"])
    #expect(runs.value == ["Int", "String"])
  }

  @Test("an Optional parameter gets nil if nothing is registered")
  func optional() throws {
    registry.register(Ticket.self, .autowire({ (number: Int?) in Ticket(number ?? -1) }))
    #expect(try registry.resolve(Ticket.self).number == -1)
    registry.register(Int.self) { 5 }
    #expect(try registry.resolve(Ticket.self).number == 5)
  }

  @Test("a throwing initializer's error is thrown")
  func throwing() throws {
    registry.register(Int.self) { 1 }
    registry.register(Ticket.self, .autowire({ (_: Int) throws -> Ticket in throw Offline() }))
    #expect(registry.error(resolving: Ticket.self)?.underlying is Offline)
  }

  @Test("a protocol parameter is served by what is registered for the protocol")
  func protocols() throws {
    registry.register((any Tracker).self) { FileTracker("any") }
    registry.register(String.self, .autowire({ (tracker: any Tracker) in tracker.label }))
    #expect(try registry.resolve(String.self) == "any")
  }
}
