import SpellDiagnostics
import SpellRegistry
import TestSupport
import Testing

@Suite("Diagnosis of registrations that hide others", .timeLimit(.hang)) struct HidingTests {
  struct Log: Sendable {}
  struct Part: Sendable { var log = Log() }

  let registry = InitializerRegistry()
  private let place = SourcePlace(fileID: "Tests/HidingTests.swift", line: 1)

  @Test("reports nothing of a registration that hides another, which isn't replaced")
  func valid() {
    registry.register(Part.self) { Part() }
    _ = registry.hide(with: Initializer<Part>.wrapping { part, _ in part }, at: place)
    #expect(registry.validate().isEmpty)
  }

  @Test("reports what a hidden registration lacks")
  func hiddenNeeds() {
    registry.register(.autowire(Part.init(log:)))
    _ = registry.hide(with: Initializer<Part>.wrapping { part, _ in part }, at: place)
    #expect(registry.validate().map(\.code) == [.notRegistered])
    registry.register(Log.self) { Log() }
    #expect(registry.validate().isEmpty)
  }

  @Test(
    "shows the hidden registration as a node of its own, with what it needs and an arrow from the one that hides it")
  func graph() throws {
    let part = registry.register(.autowire(Part.init(log:)))
    registry.register(Log.self) { Log() }
    let hiding = registry.hide(with: Initializer<Part>.wrapping { part, _ in part }, at: place)
    let graph = try registry.graph { try registry.resolve(Part.self) }
    let hidden = try #require(graph.nodes.map(\.type).first { $0.hasPrefix("Part of ") })
    #expect(graph.nodes.map(\.type).sorted() == ["Log", "Part", hidden])
    #expect(Set(graph.edges.map { "\($0.from) > \($0.to)" }) == ["\(hidden) > Log", "Part > \(hidden)"])
    hiding.unregister()
    #expect(registry.graph().nodes.map(\.type).sorted() == ["Log", "Part"])
    part.unregister()
  }
}
