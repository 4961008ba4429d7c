import SpellDiagnostics
import Spellbook
import Testing

/// The samples of the page of SpellDiagnostics.
@Suite("Diagnostics") struct Diagnostics {
  struct Network: Sendable {}
  struct Checkout: Sendable { let network: Network }

  let registry = InitializerRegistry()

  @Test("the graph has what a closure asks its resolver for")
  func graph() throws {
    registry.register { Network() }
    registry.register(Checkout.self) { Checkout(network: try $0.resolve()) }
    let graph = try registry.graph {
      try registry.resolve(Checkout.self)
    }
    let picture = graph.svg()
    #expect(graph.edges.map { "\($0.from) > \($0.to)" } == ["Checkout > Network"])
    #expect(picture.contains("Checkout"))
  }
}
