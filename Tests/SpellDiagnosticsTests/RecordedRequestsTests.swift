import InjectedSpell
import SpellDiagnostics
import SpellRegistry
import TestSupport
import Testing

@Suite("The graph of what is asked for while a closure runs", .timeLimit(.hang)) struct RecordedRequestsTests {
  struct Log: Sendable {}
  struct Part: Sendable {}
  struct Page: Sendable {}

  let registry = InitializerRegistry()

  private func edges(_ graph: DependencyGraph) -> [String] {
    graph.edges.map { "\($0.from) > \($0.to)\($0.isObserved ? " observed" : "")" }
  }

  @Test("has what initializers asked for, each once, and nothing that was asked for before or after")
  func recorded() throws {
    registry.register(Log.self) { Log() }
    registry.register(Part.self) { resolver in
      _ = try resolver.resolve(Log.self)
      return Part()
    }
    registry.register(Page.self) { resolver in
      _ = (try resolver.resolve(Part.self), try resolver.resolve(Part.self))
      return Page()
    }
    _ = try registry.resolve(Part.self)
    #expect(registry.graph().edges.isEmpty)
    let graph = try registry.graph { try registry.resolve(Page.self) }
    #expect(edges(graph).contains("Page > Part observed"))
    #expect(graph.edges.count == Set(graph.edges).count)
    _ = try registry.resolve(Page.self)
    #expect(registry.graph().edges.isEmpty && registry.graph {}.edges.isEmpty)
  }

  @Test("has what an initializer asks for again")
  func again() throws {
    registry.register(Log.self) { Log() }
    registry.register(Part.self) { resolver in
      _ = try resolver.resolve(Log.self)
      return Part()
    }
    for _ in 1...2 {
      #expect(edges(try registry.graph { try registry.resolve(Part.self) }) == ["Part > Log observed"])
    }
  }

  @Test("distinguishes what autowiring shows, and runs with the registry as the current one")
  func autowired() throws {
    registry.register { Clock() }
    registry.register(Network.self, .autowire(Network.init))
    registry.register(Checkout.self) { resolver in
      Checkout(network: try resolver.resolve(), clock: try resolver.resolve())
    }
    let graph = try registry.graph { try InitializerRegistry.current.resolve(Checkout.self) }
    #expect(edges(graph) == ["Network > Clock", "Checkout > Network observed", "Checkout > Clock observed"])
  }

  @Test("has requests with arguments, lists, and kept values")
  func forms() throws {
    registry.register(Clock.self, scope: .singleton) { Clock() }
    _ = try registry.resolve(Clock.self)
    registry.register(
      ArgumentFactory<Network, Int>.self, .factory { resolver, _ in Network(clock: try resolver.resolve()) })
    registry.register(String.self) {
      "\(try $0.resolve(Network.self, arguments: 1)) \(try $0.resolveAll(Clock.self).count)"
    }
    let graph = try registry.graph { try registry.resolve(String.self) }
    let factory = "factory of Network from Int"
    #expect(
      Set(graph.edges.map { "\($0.from) > \($0.to)" })
        == ["\(factory) > Clock", "String > \(factory)", "String > Clock"])
  }

  private final class Board: Sendable {
    let clock = Injected<Clock?>(.weak)
  }

  @Test("has what a weak property asks for, and nothing else of the property")
  func weak() throws {
    registry.register(Clock.self, scope: .singleton) { Clock() }
    registry.register(Board.self) {
      let board = Board()
      _ = try board.clock.resolve()
      return board
    }
    let graph = try registry.graph { try registry.resolve(Board.self) }
    #expect(edges(graph) == ["Board > Clock observed"])
    #expect(graph.nodes.map(\.type) == ["Clock", "Board"])
  }

  @Test("isn't returned if the closure throws")
  func failure() {
    #expect(throws: InjectionError.self) { try registry.graph { try registry.resolve(Log.self) } }
  }

  @Test("shows what nothing serves as missing")
  func missing() throws {
    registry.register(Page.self) { resolver in
      _ = try? resolver.resolve(Log.self)
      return Page()
    }
    let graph = try registry.graph { try registry.resolve(Page.self) }
    #expect(graph.nodes.filter { $0.scope == nil }.map(\.type) == ["Log"])
  }

  @Test(
    "shows a key's own initializer that was used")
  func keys() throws {
    let graph = try registry.graph { try registry.resolve(.recorder) }
    #expect(graph.nodes.map(\.scope) == ["unique", "singleton"])
    #expect(graph.edges.map(\.from) == [graph.nodes[0].type] && graph.edges.map(\.to) == [graph.nodes[1].type])
  }

  @Test("has what an async initializer asked for")
  func async() async throws {
    registry.register(Log.self) { Log() }
    registry.register(
      Page.self,
      .async { resolver in
        _ = try resolver.resolve(Log.self)
        return Page()
      })
    let graph = try await registry.graph { try await registry.resolveAsync(Page.self) }
    #expect(edges(graph) == ["Page > Log observed"])
  }

  @Test("has no edge for what a hook asked")
  func hooks() throws {
    registry.register(Log.self) { Log() }
    registry.register(Part.self) { Part() }.onInjection { [weak registry] _, _ in _ = try? registry?.resolve(Log.self) }
    registry.register(Page.self) { resolver in
      _ = try resolver.resolve(Part.self)
      return Page()
    }
    #expect(edges(try registry.graph { try registry.resolve(Page.self) }) == ["Page > Part observed"])
  }

  @Test("shows nothing as missing that another registry made")
  func otherRegistries() throws {
    let other = InitializerRegistry()
    other.register(Log.self, scope: .singleton) { Log() }
    registry.register(Page.self) { _ in
      _ = try other.resolve(Log.self)
      return Page()
    }
    var graph = try registry.graph { try registry.resolve(Page.self) }
    #expect(graph.nodes.map { "\($0.type) \($0.scope ?? "missing")" } == ["Page unique", "Log singleton"])
    registry.register(Log.self) { Log() }
    graph = try registry.graph { try registry.resolve(Page.self) }
    #expect(edges(graph) == ["Page > Log of another registry observed"])
  }
}

extension InjectionKeys {
  fileprivate static let recorder = InjectionKey<RecordedRequestsTests.Page> { resolver in
    _ = try resolver.resolve(.recorded)
    return RecordedRequestsTests.Page()
  }
  fileprivate static let recorded = InjectionKey(scope: .singleton) { RecordedRequestsTests.Log() }
}
