internal import SpellRegistry

/// The dependencies of registered types: a picture, text, or lists of nodes and edges.
///
/// ```swift
/// let missing = registry.graph().nodes.filter { $0.scope == nil }
/// ```
public struct DependencyGraph: Sendable {
  /// A type that is registered, or that another one needs.
  public struct Node: Sendable, Hashable {
    /// The type's name; with its module, if another type in the graph has the same name. It ends in `of another registry`
    /// if the registry that was asked provides another value of the type.
    public let type: String
    /// The scope of its registration; nil if nothing is registered.
    public let scope: String?
    /// The names that its registrations are for, as they are written in source.
    public let names: [String]
    /// Where it is registered, as `Module/File.swift:line`; the first place, if there are several.
    public let place: String?
    /// Whether it stands for objects that have properties which are injected, and isn't registered itself.
    public let isContainer: Bool

    init(
      type: String, scope: String? = nil, names: [String] = [], place: String? = nil, isContainer: Bool = false
    ) {
      self.type = type
      self.scope = scope
      self.names = names
      self.place = place
      self.isContainer = isContainer
    }
  }

  /// One dependency.
  public struct Edge: Sendable, Hashable {
    /// The name of the type whose initializer needs the other.
    public let from: String
    /// The name of the type that it needs.
    public let to: String
    /// Whether it is known only because the one initializer asked for the other while requests were recorded; if not,
    /// autowiring tells it.
    public let isObserved: Bool

    init(from: String, to: String, isObserved: Bool = false) {
      self.from = from
      self.to = to
      self.isObserved = isObserved
    }
  }

  /// The types, in the order of registration, then those that are missing.
  public internal(set) var nodes: [Node]
  /// The dependencies, in the order of registration.
  public internal(set) var edges: [Edge]

  init(nodes: [Node], edges: [Edge]) {
    self.nodes = nodes
    self.edges = edges
  }
}
