import SpellDiagnostics
import SpellRegistry
import TestSupport
import Testing

private protocol Store: Sendable {}
private struct Real: Store { var log = Log() }
private struct Logged: Store { let inner: any Store }
private struct Log: Sendable {}

extension InjectionKeys {
  fileprivate static let store = InjectionKey<any Store>(scope: .singleton) { Real() }
}

@Suite("Diagnosis of decorations", .timeLimit(.hang)) struct DecorationTests {
  let registry = InitializerRegistry()

  private func edges(_ graph: DependencyGraph) -> [String] { graph.edges.map { "\($0.from) > \($0.to)" } }

  @Test("shows a chain of the decorations and what they wrap, without running any")
  func chain() throws {
    let line: UInt = #line + 1
    registry.register((any Store).self, .autowire(Real.init(log:)))
    registry.register { Log() }
    registry.decorate((any Store).self) { Logged(inner: $0) }
    registry.decorate((any Store).self) { Logged(inner: $0) }
    #expect(registry.validate().isEmpty)
    let file = "any Store of SpellDiagnosticsTests/DecorationTests.swift"
    let expected = [
      "any Store > \(file):\(line + 2)", "\(file):\(line + 2) > \(file):\(line)", "\(file):\(line) > Log",
    ]
    #expect(Set(edges(registry.graph())) == Set(expected))
    let recorded = try registry.graph { try registry.resolve((any Store).self) }
    #expect(Set(edges(recorded)) == Set(expected))
  }

  @Test("shows the key's own initializer, and the parent's registration, as what is wrapped")
  func keyAndParent() throws {
    registry.decorate(.store) { Logged(inner: $0) }
    let found = registry.graph().edges
    #expect(found.map { "\($0.from), its own value" } == found.map(\.to))
    #expect(found.count == 1)
    #expect(registry.validate(keys: .store).isEmpty)

    registry.register((any Store).self) { Real() }
    let child = registry.child { $0.decorate((any Store).self) { Logged(inner: $0) } }
    #expect(child.validate().isEmpty)
    #expect(edges(child.graph()).contains { $0.hasSuffix(" of another registry") })
  }

  @Test("reports a decoration that has nothing to wrap")
  func nothing() {
    registry.decorate((any Store).self) { Logged(inner: $0) }
    let errors = registry.validate()
    #expect(errors.map(\.code) == [.notRegistered])
    #expect(errors.first?.path == ["any Store", "any Store"])
    registry.decorate((any Store)?.self) { $0 }
    #expect(registry.validate().count == 1)
  }

  @Test("reports no scope that ends too early, because a decoration has the scope of what it wraps")
  func scopes() {
    let cache = ScopeCache("cache")
    registry.register((any Store).self, scope: .cached(in: cache).expiring(after: .seconds(9))) { Real() }
    registry.decorate((any Store).self) { Logged(inner: $0) }
    registry.register(Log.self, scope: .singleton) { Log() }
    registry.decorate(Log.self) { $0 }
    #expect(registry.validate().isEmpty)
  }
}
