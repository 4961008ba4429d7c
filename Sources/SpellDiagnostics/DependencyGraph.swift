internal import SpellRegistry

/// A graph of the dependencies of registered types, available as nodes and edges, as text, and as a picture.
///
/// ```swift
/// let missing = registry.graph().nodes.filter { $0.scope == nil }
/// ```
public struct DependencyGraph: Sendable {
  /// A type that is registered, that another type needs, or that has injected properties.
  public struct Node: Sendable, Hashable {
    /// The type's name, with its module if another type in the graph has the same name.
    ///
    /// For a factory, the name is a text such as `factory of Ticket from Int`. If the node stands for a value of
    /// another registry, and the graph's own registry also provides the type, the name ends in `of another registry`.
    public internal(set) var type: String
    /// The scope of the type's first registration; nil if nothing is registered.
    ///
    /// For an instance, the scope is `unique`. For a factory, it is the scope of the values that the factory makes.
    public internal(set) var scope: String?
    /// The property names to which the type's registrations are limited, such as `"port"` or `.containing("timeout")`.
    public internal(set) var names: [String] = []
    /// The file and line of the type's first registration, as `Module/File.swift:line`; nil if nothing is registered.
    public internal(set) var place: String?
    /// Whether the type has injected properties, and is neither registered nor needed by another type.
    public internal(set) var isContainer = false
    /// The place of the declared key that the node is for; nil if it is for a type.
    var key: SourcePlace?
    /// The part of ``type`` that a drawing shows, which is without the key's place; nil for all of it.
    var title: String?
  }

  /// A dependency of one type on another.
  public struct Edge: Sendable, Hashable {
    /// The name of the type that needs the other type.
    public internal(set) var from: String
    /// The name of the type that is needed.
    public internal(set) var to: String
    /// Whether the dependency is known only from a request that was recorded while `graph(_:)` ran a closure.
    ///
    /// Other dependencies are declared by a property or by the parameters of an autowired initializer.
    public internal(set) var isObserved = false
  }

  /// The registered types in the order of registration, followed by all other types.
  public let nodes: [Node]
  /// The dependencies, beginning with the dependencies of autowired initializers.
  ///
  /// In a graph that `graph(_:)` returns, the dependencies recorded while its closure ran follow. In a graph that
  /// `graph(properties:)` returns, the dependencies of the properties follow.
  public let edges: [Edge]

  /// Creates a graph without duplicate nodes or edges.
  ///
  /// - Parameters:
  ///   - nodes: The types. Only the first node of each name is kept.
  ///   - edges: The dependencies. Only the first edge from one type to another is kept.
  init(nodes: [Node], edges: [Edge]) {
    var (named, drawn): (Set<String>, Set<[String]>) = ([], [])
    self.nodes = nodes.filter { named.insert($0.type).inserted }
    self.edges = edges.filter { drawn.insert([$0.from, $0.to]).inserted }
  }
}
