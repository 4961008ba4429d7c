import SpellRegistry
import Testing

@Suite("The graph of dependencies") struct DependencyGraphTests {
  let registry = InitializerRegistry()

  @Test("nodes have a scope and a place, in the order of registration, the missing at the end")
  func nodes() {
    let line: UInt = #line + 1
    registry.register(Network.self, scope: .singleton, autowire: Network.init)
    registry.register(Checkout.self, scope: .cached(in: ScopeCache("session")), autowire: Checkout.init)
    registry.register((any Tracker).self, scope: .weak) { FileTracker() }
    registry.register(Int.self, scope: .graph) { 1 }
    let nodes = registry.graph().nodes
    #expect(nodes.map(\.type) == ["Network", "Checkout", "any Tracker", "Int", "Clock"])
    #expect(nodes.map(\.scope) == ["singleton", "cached in session", "weak", "graph", nil])
    #expect(nodes[0].place == "SpellRegistryTests/DependencyGraphTests.swift:\(line)")
    #expect(nodes[4].place == nil)
  }

  @Test("edges are those of autowired initializers, each once")
  func edges() {
    registry.register { Clock() }
    registry.register(Network.self, autowire: Network.init)
    registry.register(Checkout.self, autowire: Checkout.init)
    registry.register([Clock].self, autowire: { (a: Clock, b: Clock) in [a, b] })
    let edges = registry.graph().edges.map { "\($0.from) > \($0.to)" }
    #expect(
      edges == ["Network > Clock", "Checkout > Network", "Checkout > Clock", "Array<Clock> > Clock"])
  }

  @Test("an Optional dependency leads to what serves it")
  func optional() {
    registry.register { Clock() }
    registry.register(String.self, autowire: { (_: Clock?, _: Ticket?) in "" })
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

  @Test("types of one name are told apart, in the graph and in an error")
  func sameName() throws {
    registry.register(Other.Clock.self) { Other.Clock() }
    registry.register(Network.self, autowire: Network.init)
    let graph = registry.graph()
    #expect(graph.nodes.count == 3)
    let missing = try #require(graph.nodes.first { $0.scope == nil })
    #expect(missing.type == "SpellRegistryTests.Clock")
    #expect(graph.edges.map(\.to) == [missing.type])
    let text = try #require(registry.error(resolving: Clock.self)).description
    #expect(text.contains("Another type of that name, SpellRegistryTests.DependencyGraphTests."), "\(text)")
    #expect(text.contains("asked for is SpellRegistryTests.Clock."), "\(text)")
  }
}
