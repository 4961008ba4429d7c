/// The dependencies of registered types: a picture, text, or lists of nodes and edges.
///
/// ```swift
/// let missing = registry.graph().nodes.filter { $0.scope == nil }
/// ```
public struct DependencyGraph: Sendable {
  /// A type that is registered, or that another one needs.
  public struct Node: Sendable, Hashable {
    /// The type's name; with its module, if another type in the graph has the same name.
    ///
    /// It ends in `of another registry` if the registry that was asked provides another value of the type.
    public internal(set) var type: String
    /// The scope of its registration; nil if nothing is registered.
    public internal(set) var scope: String?
    /// The names that its registrations are for, as they are written in source.
    public internal(set) var names: [String] = []
    /// The place of the registration, as `Module/File.swift:line`; the first, if there are several.
    public internal(set) var place: String?
    /// Whether it stands for objects that have properties which are injected, and isn't registered itself.
    public internal(set) var isContainer = false
  }

  /// One dependency.
  public struct Edge: Sendable, Hashable {
    /// The name of the type whose initializer needs the other.
    public internal(set) var from: String
    /// The name of the type that it needs.
    public internal(set) var to: String
    /// Whether it is known only because the one initializer asked for the other while requests were recorded; if not,
    /// autowiring tells it.
    public internal(set) var isObserved = false
  }

  /// The types, in the order of registration, then others that they need.
  public let nodes: [Node]
  /// The dependencies, in the order of registration.
  public let edges: [Edge]

  /// - Parameters:
  ///   - nodes: The types; the first node of each name counts.
  ///   - edges: The dependencies; the first edge between two types counts.
  init(nodes: [Node], edges: [Edge]) {
    var (named, drawn): (Set<String>, Set<[String]>) = ([], [])
    self.nodes = nodes.filter { named.insert($0.type).inserted }
    self.edges = edges.filter { drawn.insert([$0.from, $0.to]).inserted }
  }
}
