import SpellDiagnostics
import SpellRegistry
import Testing

@Suite("The graph of dependencies") struct DependencyGraphTests {
  let registry = InitializerRegistry()

  @Test("nodes have a scope and a place, in the order of registration, the missing at the end")
  func nodes() {
    let line: UInt = #line + 1
    registry.register(Network.self, scope: .singleton, .autowire(Network.init))
    registry.register(Checkout.self, scope: .cached(in: ScopeCache("session")), .autowire(Checkout.init))
    registry.register((any Tracker).self, scope: .weak) { FileTracker() }
    registry.register(Int.self, scope: .graph) { 1 }
    let nodes = registry.graph().nodes
    #expect(nodes.map(\.type) == ["Network", "Checkout", "any Tracker", "Int", "Clock"])
    #expect(nodes.map(\.scope) == ["singleton", "cached in session", "weak", "graph", nil])
    #expect(nodes[0].place == "SpellDiagnosticsTests/DependencyGraphTests.swift:\(line)")
    #expect(nodes[4].place == nil)
  }

  @Test("edges are those of autowired initializers, each once")
  func edges() {
    registry.register { Clock() }
    registry.register(Network.self, .autowire(Network.init))
    registry.register(Checkout.self, .autowire(Checkout.init))
    registry.register([Clock].self, .autowire({ (a: Clock, b: Clock) in [a, b] }))
    let edges = registry.graph().edges.map { "\($0.from) > \($0.to)" }
    #expect(
      edges == ["Network > Clock", "Checkout > Network", "Checkout > Clock", "Array<Clock> > Clock"])
  }

  @Test("the dependencies of an initializer of one to five parameters are known before it runs")
  func parameters() throws {
    registry.register([Int].self, .autowire({ (a: Int) in [a] }))
    registry.register([String].self, .autowire({ (a: Int, b: String) in ["\(a)", b] }))
    registry.register([Bool].self, .autowire({ (a: Int, b: String, c: Bool) in [a == 1, b == "two", c] }))
    registry.register(
      [Int: Bool].self, .autowire({ (a: Int, b: String, c: Bool, d: Int) in [a: b == "two", d + 1: c] }))
    registry.register(
      [Int: Int].self,
      .autowire({ (a: Int, b: String, c: Bool, d: [Int], e: Int) in [a: b.count, d[0] + e: c ? 1 : 0] }))
    let edges = registry.graph().edges
    for (type, needs) in [
      ("Array<Int>", ["Int"]), ("Array<String>", ["Int", "String"]), ("Array<Bool>", ["Int", "String", "Bool"]),
      ("Dictionary<Int, Bool>", ["Int", "String", "Bool"]),
      ("Dictionary<Int, Int>", ["Int", "String", "Bool", "Array<Int>"]),
    ] { #expect(edges.filter { $0.from == type }.map(\.to) == needs) }
    #expect(edges.allSatisfy { !$0.isObserved })
  }

  @Test("an Optional dependency leads to what serves it")
  func optional() {
    registry.register { Clock() }
    registry.register(String.self, .autowire({ (_: Clock?, _: Ticket?) in "" }))
    #expect(registry.graph().edges.map(\.to) == ["Clock", "Ticket?"])
  }

  @Test("a child's graph has the parent's registrations, without those it overrides")
  func parents() {
    let child = InitializerRegistry(parent: registry)
    registry.register(Clock.self, scope: .singleton) { Clock() }
    registry.register(Int.self) { 1 }
    child.register(Clock.self, scope: .weak) { Clock() }
    #expect(child.graph().nodes.map { "\($0.type) \($0.scope ?? "-")" } == ["Int unique", "Clock weak"])
  }

  private enum Other { final class Clock: Sendable {} }

  @Test("types with the same name are distinguished, in the graph and in an error")
  func sameName() throws {
    registry.register(Other.Clock.self) { Other.Clock() }
    registry.register(Network.self, .autowire(Network.init))
    let graph = registry.graph()
    #expect(graph.nodes.count == 3)
    let missing = try #require(graph.nodes.first { $0.scope == nil })
    #expect(missing.type == "SpellDiagnosticsTests.Clock")
    #expect(graph.edges.map(\.to) == [missing.type])
    let text = try #require(registry.error(resolving: Clock.self)).description
    #expect(text.contains("Another type of that name, SpellDiagnosticsTests.DependencyGraphTests."), "\(text)")
    #expect(text.contains("asked for is SpellDiagnosticsTests.Clock."), "\(text)")
  }
}
