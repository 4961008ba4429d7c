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

  @Test("validate reports the captive value that a closure was seen to ask for")
  func captive() {
    struct Cart: Sendable {}
    struct Checkout: Sendable { let cart: Cart }
    let session = ScopeCache("session")
    InitializerRegistry().run {
      InitializerRegistry.current.register(scope: .cached(in: session)) { Cart() }
      InitializerRegistry.current.register(Checkout.self, scope: .singleton) {
        Checkout(cart: try $0.resolve())
      }

      let registry = InitializerRegistry.current
      _ = registry.graph { _ = try? registry.resolve(Checkout.self) }
      let errors = registry.validate()
      #expect(errors.map(\.code) == [.scopeCapture])
    }
  }
}
