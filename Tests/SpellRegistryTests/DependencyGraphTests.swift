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

  @Test("a Mermaid drawing has every type and dependency")
  func mermaid() {
    registry.register(Clock.self, scope: .singleton) { Clock() }
    registry.register(Checkout.self, autowire: Checkout.init)
    #expect(
      registry.graph().mermaid() == """
        graph TD
          n0["Clock (singleton)"]
          n1["Checkout"]
          n2["Network (missing)"]
          n1 --> n2
          n1 --> n0

        """)
  }

  @Test("a DOT drawing has every type and dependency")
  func dot() {
    registry.register(Network.self, autowire: Network.init)
    #expect(
      registry.graph().dot() == """
        digraph dependencies {
          n0 [label="Network"];
          n1 [label="Clock (missing)"];
          n0 -> n1;
        }

        """)
  }

  @Test("quotes, backslashes and generics in names do not break the drawings")
  func escaping() {
    let cache = ScopeCache("a \"quoted\" \\ name")
    registry.register([String: [Int]].self, scope: .cached(in: cache)) { [:] }
    let graph = registry.graph()
    #expect(
      graph.mermaid().contains(
        #"n0["Dictionary#lt;String, Array#lt;Int#gt;#gt; (cached in a #quot;quoted#quot; \ name)"]"#))
    #expect(
      graph.dot().contains(
        #"n0 [label="Dictionary<String, Array<Int>> (cached in a \"quoted\" \\ name)"]"#))
  }

  @Test("an empty registry has an empty drawing")
  func empty() {
    #expect(registry.graph().mermaid() == "graph TD\n")
    #expect(registry.graph().dot() == "digraph dependencies {\n}\n")
  }
}
