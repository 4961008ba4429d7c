/// What depends on what, as far as registrations tell.
///
/// ```swift
/// print(registry.graph().mermaid)
/// ```
public struct DependencyGraph: Sendable {
  /// A type that is registered, or that an autowired initializer needs.
  public struct Node: Sendable, Hashable {
    /// The type's name.
    public let type: String
    /// The scope of its registration; nil where nothing is registered.
    public let scope: String?
    /// Where it is registered, as `Module/File.swift:line`.
    public let place: String?
  }

  /// One dependency.
  public struct Edge: Sendable, Hashable {
    /// The name of the type whose initializer needs the other.
    public let from: String
    /// The name of the type that it needs.
    public let to: String
  }

  /// The types, in the order of registration, then those that are missing.
  public let nodes: [Node]
  /// The dependencies of autowired initializers, in the order of registration.
  public let edges: [Edge]

  /// The graph in Mermaid's language, which many Markdown viewers draw.
  public var mermaid: String {
    drawing("graph TD", end: nil) {
      "\($0)[\"\(escape($1.label, ["\"": "#quot;", "<": "#lt;", ">": "#gt;"]))\"]"
    }
  }

  /// The graph in the DOT language of Graphviz.
  public var dot: String {
    drawing("digraph dependencies {", end: "}") {
      "\($0) [label=\"\(escape($1.label, ["\"": "\\\"", "\\": "\\\\"]))\"]"
    }
  }

  private func drawing(_ head: String, end: String?, node: (String, Node) -> String) -> String {
    // Identifiers of the drawing's own, since type names may hold any character.
    let ids = Dictionary(
      nodes.enumerated().map { ($1.type, "n\($0)") }, uniquingKeysWith: { first, _ in first })
    let arrow = end == nil ? "-->" : "->"
    let nodes = nodes.compactMap { found in ids[found.type].map { "  \(node($0, found))" } }
    let edges = edges.compactMap { edge in
      ids[edge.from].flatMap { from in ids[edge.to].map { "  \(from) \(arrow) \($0)" } }
    }
    return ([head] + nodes + edges + (end.map { [$0] } ?? [])).joined(separator: "\n") + "\n"
  }

  private func escape(_ text: String, _ replacements: [Character: String]) -> String {
    text.map { replacements[$0] ?? String($0) }.joined()
  }
}

extension DependencyGraph.Node {
  fileprivate var label: String {
    switch scope {
    case nil: "\(type) (missing)"
    case "unique"?: type
    case let scope?: "\(type) (\(scope))"
    }
  }
}

extension InitializerRegistry {
  /// What depends on what: every registration of this registry and its parents, and what autowired initializers need.
  public func graph() -> DependencyGraph {
    let entries = reachableEntries
    var nodes: [DependencyGraph.Node] = []
    var named: Set<String> = []
    for entry in entries where named.insert(TypeName.of(entry.type)).inserted {
      nodes.append(
        DependencyGraph.Node(
          type: TypeName.of(entry.type), scope: entry.lifetime.description, place: entry.place.description))
    }
    var edges: [DependencyGraph.Edge] = []
    for entry in entries {
      for type in entry.dependencies {
        let needed = provider(of: type).map { TypeName.of($0.type) } ?? TypeName.of(type)
        if named.insert(needed).inserted {
          nodes.append(DependencyGraph.Node(type: needed, scope: nil, place: nil))
        }
        let edge = DependencyGraph.Edge(from: TypeName.of(entry.type), to: needed)
        if !edges.contains(edge) { edges.append(edge) }
      }
    }
    return DependencyGraph(nodes: nodes, edges: edges)
  }
}

extension ScopeLifetime {
  fileprivate var description: String {
    switch self {
    case .unique: "unique"
    case .graph: "graph"
    case .singleton: "singleton"
    case .weak: "weak"
    case .cached(let cache): "cached in \(cache.name)"
    }
  }
}
