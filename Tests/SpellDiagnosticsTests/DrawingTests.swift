import Foundation
import SpellRegistry
import TestSupport
import Testing

@testable import SpellDiagnostics

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Drawings of the graph") struct DrawingTests {
  struct Box<Content>: Sendable where Content: Sendable {}
  final class Part: Sendable { init(_: Box<[String: any Sendable]>) {} }
  final class Whole: Sendable { init(_: Part, _: Int?) {} }
  final class Engine: Sendable {}
  final class Boat: Sendable { init(_: Engine) {} }
  final class Fleet: Sendable { init(_: Boat, _: Engine) {} }

  let registry = InitializerRegistry()

  /// Returns a graph with generics, quotes, an existential, a missing type, an observed dependency and a cycle.
  private func graph() -> DependencyGraph {
    registry.register(Whole.self, named: "a \"quoted\" <name> & more", scope: .singleton, .autowire(Whole.init))
    registry.register(Part.self, scope: .cached(in: ScopeCache("a \"b\" <c> & \\d")), .autowire(Part.init))
    registry.register((any CustomStringConvertible).self) { try $0.resolve(String.self) }
    registry.register { "text" }
    registry.register(Bool.self, .autowire({ (value: Bool) in value }))
    return registry.graph { try? registry.resolve((any CustomStringConvertible).self) }
  }

  @Test("the JSON text is valid, whatever the names are")
  func json() throws {
    struct Drawn: Decodable {
      struct Node: Decodable { let type: String, scope: String?, names: [String], place: String? }
      struct Edge: Decodable { let from: String, to: String, isObserved: Bool }
      let nodes: [Node]
      let edges: [Edge]
    }
    let graph = graph()
    let drawn = try JSONDecoder().decode(Drawn.self, from: Data(graph.json().utf8))
    #expect(drawn.nodes.map(\.type) == graph.nodes.map(\.type))
    #expect(drawn.nodes.first?.names == ["\"a \"quoted\" <name> & more\""])
    #expect(drawn.nodes.map(\.scope) == graph.nodes.map(\.scope))
    #expect(drawn.edges.map(\.isObserved) == graph.edges.map(\.isObserved))
    #expect(drawn.edges.contains { $0.from == "any CustomStringConvertible" && $0.to == "String" && $0.isObserved })
  }

  @Test("the SVG picture is well-formed, with a box for each type and a line for each dependency")
  func svg() throws {
    final class Counter: NSObject, XMLParserDelegate {
      var count: [String: Int] = [:]
      func parser(
        _: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
      ) { count[name, default: 0] += 1 }
    }
    let graph = graph()
    let parser = XMLParser(data: Data(graph.svg().utf8))
    let counter = Counter()
    parser.delegate = counter
    #expect(parser.parse())
    #expect(counter.count["text"] == graph.nodes.count)
    #expect(counter.count["path"] == graph.edges.count + 1)
    #expect(graph.svg().contains("stroke-dasharray"))
    #expect(graph.svg().contains("(missing)"))
  }

  @Test("the SVG picture leads a dependency over several layers past the boxes between them")
  func bends() throws {
    registry.register(Int.self, .autowire({ (_: String, _: Bool) in 1 }))
    registry.register(String.self, .autowire({ (_: Bool) in "" }))
    registry.register { true }
    let svg = registry.graph().svg()
    let ways = svg.matches(of: /<path d="M([0-9]+) 52 [^"]*"\/>/).map { String($0.output.0) }
    #expect(ways.count == 2)
    // The dependency on the next layer is one curve. The one across several layers is two curves with a line between
    // them.
    #expect(ways.map { $0.count { $0 == "C" } }.sorted() == [1, 2])
    let long = try #require(ways.first { $0.contains("L") })
    let bend = try #require(long.firstMatch(of: /L([0-9]+) 136/)).output.1
    let box = try #require(svg.firstMatch(of: /<rect x="([0-9]+)" y="104" width="([0-9]+)"/)).output
    let (x, left, width) = (try #require(Int(bend)), try #require(Int(box.1)), try #require(Int(box.2)))
    #expect(!(left...left + width).contains(x))
  }

  @Test("SVG's has rows as wide as a page at most, and what has no line below all others")
  func rows() throws {
    let nodes =
      (0..<30).map { DependencyGraph.Node(type: "Needer\($0)", scope: "unique") }
      + ["Base", "Alone", "Lonely"].map { DependencyGraph.Node(type: $0, scope: "singleton") }
    let edges = nodes.prefix(30).map { DependencyGraph.Edge(from: $0.type, to: "Base") }
    let svg = DependencyGraph(nodes: nodes, edges: edges).svg()
    let boxes = try svg.matches(of: /<rect x="([0-9]+)" y="([0-9]+)" width="([0-9]+)" height="32"/).map { box in
      (x: try #require(Int(box.1)), y: try #require(Int(box.2)), width: try #require(Int(box.3)))
    }
    #expect(boxes.count == nodes.count)
    for (index, box) in boxes.enumerated() {
      #expect(box.x >= 0 && box.x + box.width <= 1100)
      for other in boxes[(index + 1)...] where other.y == box.y {
        #expect(box.x + box.width < other.x || other.x + other.width < box.x)
      }
    }
    let lowest = try #require(boxes.prefix(31).map(\.y).max())
    #expect(boxes[30].y == lowest)
    #expect(boxes.suffix(2).allSatisfy { $0.y > lowest })
    #expect(XMLParser(data: Data(svg.utf8)).parse())
  }

  @Test("a key's label has the file and line of its declaration, and its type as it is written")
  func keys() throws {
    registry.register(.drawn) { ContinuousClock() }
    let graph = registry.graph()
    let name = try #require(graph.nodes.first).type
    #expect(name.hasPrefix("any Clock<Duration> of the key declared at SpellDiagnosticsTests/DrawingTests.swift:"))
    #expect(graph.svg().contains(/>any Clock&lt;Duration&gt; \(key at DrawingTests.swift:[0-9]+, singleton\)</))
  }

  @Test("the label of a key's registration that others hide has the key's place, too, and that of the registration")
  func hiddenKeys() {
    registry.register(.drawn, fileID: "App/Setup.swift", line: 12) { ContinuousClock() }
    registry.decorate(.drawn) { $0 }
    let text = registry.graph().mermaid()
    #expect(text.matches(of: /key at DrawingTests.swift:[0-9]+, singleton\)/).count == 2)
    #expect(text.contains("any Clock#lt;Duration#gt; of App/Setup.swift:12 (key at "))
  }

  @Test("an empty registry's are whole, too")
  func empty() throws {
    let graph = registry.graph()
    #expect(graph.mermaid() == "graph TD\n")
    #expect(graph.dot() == "digraph dependencies {\n}\n")
    #expect(XMLParser(data: Data(graph.svg().utf8)).parse())
    _ = try JSONSerialization.jsonObject(with: Data(graph.json().utf8))
  }

  @Test("what was asked for while it was recorded is dotted")
  func observed() throws {
    registry.register(Int.self) { 7 }
    registry.register(String.self) { "\(try $0.resolve(Int.self))\(try $0.resolve(Int.self))" }
    let graph = try registry.graph { try registry.resolve(String.self) }
    #expect(graph.mermaid().contains("n1 -.-> n0"))
    #expect(graph.dot().contains("n1 -> n0 [style=dashed];"))
  }

  @Test("a Mermaid drawing and a DOT drawing have every type and dependency")
  func everything() {
    registry.register(Engine.self, scope: .singleton) { Engine() }
    registry.register(Fleet.self, .autowire(Fleet.init))
    #expect(
      registry.graph().mermaid() == """
        graph TD
          n0["Engine (singleton)"]
          n1["Fleet"]
          n2["Boat (missing)"]
          n1 --> n2
          n1 --> n0

        """)
    #expect(
      registry.graph().dot() == """
        digraph dependencies {
          n0 [label="Engine (singleton)"];
          n1 [label="Fleet"];
          n2 [label="Boat (missing)"];
          n1 -> n2;
          n1 -> n0;
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
}

extension InjectionKeys {
  fileprivate static let drawn = InjectionKey<any _Concurrency.Clock<Duration>>(scope: .singleton) {
    ContinuousClock()
  }
}
