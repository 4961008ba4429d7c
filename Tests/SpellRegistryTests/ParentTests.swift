import SpellRegistry
import TestSupport
import Testing

private final class Audit: Sendable {
  let ticket: Ticket
  init(ticket: Ticket) { self.ticket = ticket }
}

@Suite("Parent and child registries", .timeLimit(.hang)) struct ParentTests {
  let parent = InitializerRegistry()
  let child: InitializerRegistry

  init() { child = InitializerRegistry(parent: parent) }

  @Test("a child's answer comes first, however specific the parent's is")
  func childFirst() throws {
    final class Page {}
    parent.register(Int.self, named: "port", .in(Page.self) { _ in 1 })
    child.register(Int.self) { 2 }
    #expect(try child.resolve(Int.self, named: "port", in: Page()) == 2)
    #expect(try parent.resolve(Int.self, named: "port", in: Page()) == 1)
  }

  @Test("the error of a parent's kept value that needs a child's value names the child's registration")
  func captive() {
    parent.register(scope: .singleton, .autowire(Audit.init))
    child.register(.instance(Ticket(1)))
    let line = #line - 1
    let error = child.error(resolving: Audit.self)
    #expect(error?.code == .notRegistered)
    #expect(error?.description.contains("Ticket is registered at SpellRegistryTests/ParentTests.swift:\(line)") == true)
  }

  @Test("the error of a parent's async singleton that needs a child's value names the child's registration, too")
  func asyncNeedsChild() async {
    parent.register(Audit.self, scope: .singleton, .async { Audit(ticket: try await $0.resolveAsync()) })
    let line = #line + 1
    child.register { Ticket(1) }
    let error = await #expect(throws: InjectionError.self) { try await child.resolveAsync(Audit.self) }
    #expect(error?.description.contains("Ticket is registered at SpellRegistryTests/ParentTests.swift:\(line)") == true)
  }

  @Test("what does not match in the child is looked for in the parent, and in the parent's parent")
  func fallback() throws {
    let grandchild = InitializerRegistry(parent: child)
    parent.register(Int.self) { 1 }
    child.register(Int.self, named: "port") { 2 }
    grandchild.register(String.self) { "grandchild" }
    #expect(try grandchild.resolve(Int.self) == 1)
    #expect(try grandchild.resolve(Int.self, named: "port") == 2)
    #expect(parent.error(resolving: String.self)?.code == .notRegistered)
  }

  @Test("an Optional is served by the child's wrapped type before the parent's Optional")
  func optionals() throws {
    parent.register(Int?.self) { 1 }
    #expect(try child.resolve(Int?.self) == 1)
    child.register(Int.self) { 2 }
    #expect(try child.resolve(Int?.self) == 2)
    child.register(Int?.self) { 3 }
    #expect(try child.resolve(Int?.self) == 3)
    #expect(try child.resolve(Int.self) == 2)
  }

  @Test("a parent's singleton takes its dependencies from the parent, and is one for both")
  func singletons() throws {
    parent.register(Ticket.self) { Ticket(1) }
    child.register(Ticket.self) { Ticket(2) }
    parent.register([Ticket].self, scope: .singleton) { [try $0.resolve()] }
    let fromChild = try child.resolve([Ticket].self)
    #expect(fromChild[0].number == 1)
    #expect(try parent.resolve([Ticket].self)[0] === fromChild[0])
  }

  @Test("a parent's unique initializer takes its dependencies from the registry that was asked")
  func uniques() throws {
    parent.register(Ticket.self) { Ticket(1) }
    child.register(Ticket.self) { Ticket(2) }
    parent.register([Ticket].self) { [try $0.resolve()] }
    parent.register([Ticket]?.self, scope: .graph) { [try $0.resolve()] }
    #expect(try child.resolve([Ticket].self)[0].number == 2)
    #expect(try child.resolve([Ticket]?.self)?[0].number == 2)
    #expect(try parent.resolve([Ticket].self)[0].number == 1)
  }

  @Test("arguments are looked for in the parent, too")
  func arguments() throws {
    parent.register(ArgumentFactory<Ticket, Int>.self, .factory { Ticket($1) })
    #expect(try child.resolve(Ticket.self, arguments: 7).number == 7)
    child.register(ArgumentFactory<Ticket, Int>.self, .factory { Ticket(-$1) })
    #expect(try child.resolve(Ticket.self, arguments: 7).number == -7)
  }

  @Test("resolveAll gives the parents' values as well, but not those with an overridden key")
  func resolveAll() throws {
    parent.register(Int.self, named: "a") { 1 }
    parent.register(Int.self, named: "b") { 2 }
    child.register(Int.self, named: "c") { 3 }
    child.register(Int.self, named: "a") { 4 }
    #expect(try child.resolveAll(Int.self) == [2, 3, 4])
    #expect(try parent.resolveAll(Int.self) == [1, 2])
  }

  @Test("withdrawing the child's registration brings the parent's back")
  func withdrawing() throws {
    parent.register(Int.self) { 1 }
    let registration = child.register(Int.self) { 2 }
    #expect(try child.resolve(Int.self) == 2)
    registration.unregister()
    #expect(try child.resolve(Int.self) == 1)
    child.removeAll()
    #expect(try child.resolve(Int.self) == 1)
  }

  @Test("an async registration of the parent is found past the child's instances of any supertype")
  func asynchronous() async throws {
    child.register(.instance(Clock(), as: .anySupertype))
    parent.register(Ticket.self, scope: .singleton, .async { Ticket(1) })
    #expect(try await child.resolveAsync(Ticket.self).number == 1)
    #expect(try child.resolve(Ticket.self).number == 1)
  }

  @Test("a parent's async singleton takes its dependencies from the parent")
  func asynchronousSingleton() async throws {
    parent.register(Int.self) { 1 }
    child.register(Int.self) { 2 }
    parent.register(Ticket.self, scope: .singleton, .async { Ticket(try $0.resolve()) })
    parent.register(String.self, .async { "\(try $0.resolve(Int.self))" })
    #expect(try await child.resolveAsync(Ticket.self).number == 1)
    #expect(try await child.resolveAsync(String.self) == "2")
  }

  @Test(
    "a graph value stays with the child that it was made for, also where children follow each other in one resolution")
  func graphOfChildren() throws {
    parent.register(String.self, scope: .graph) { "for \(try $0.resolve(Int.self))" }
    parent.register([String].self) { resolver in
      try (0..<50).map { number in
        let child = resolver.registry.child { $0.register(.instance(number)) }
        return try child.resolve(String.self)
      }
    }
    #expect(try parent.resolve([String].self) == (0..<50).map { "for \($0)" })
  }
}
