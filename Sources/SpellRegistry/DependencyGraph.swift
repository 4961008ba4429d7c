/// The dependencies of registered types, as far as registrations tell and resolutions have shown.
///
/// ```swift
/// let missing = registry.graph().nodes.filter { $0.scope == nil }
/// ```
///
/// The module `GraphDrawing`, which `Spellbook` exports, draws it.
public struct DependencyGraph: Sendable {
  /// A type that is registered, or that another one needs.
  public struct Node: Sendable, Hashable {
    /// The type's name; with its module, if another type in the graph has the same name.
    public let type: String
    /// The scope of its registration; nil if nothing is registered.
    public let scope: String?
    /// The names that its registrations are for, as they are written in source.
    public let names: [String]
    /// Where it is registered, as `Module/File.swift:line`; the first place, if there are several.
    public let place: String?
    /// Whether it stands for objects that have properties which are injected, and isn't registered itself.
    public let isContainer: Bool

    package init(
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
    /// Whether it is known only because the one initializer has asked for the other; if not, autowiring tells it.
    public let isObserved: Bool

    package init(from: String, to: String, isObserved: Bool = false) {
      self.from = from
      self.to = to
      self.isObserved = isObserved
    }
  }

  /// The types, in the order of registration, then those that are missing.
  public let nodes: [Node]
  /// The dependencies, in the order of registration.
  public let edges: [Edge]

  package init(nodes: [Node], edges: [Edge]) {
    self.nodes = nodes
    self.edges = edges
  }
}

extension InitializerRegistry {
  /// Returns the dependencies of every registration of this registry and its parents: what autowired initializers need, and
  /// what other initializers have asked for so far.
  public func graph() -> DependencyGraph {
    let providers = reachableRegistrations
    let needs = providers.flatMap { provider in
      let (known, observed) = (provider.storage.dependencies, provider.storage.observedDependencies)
      return (known.map { (Service($0), false) } + observed.map { ($0, true) }).map { service, isObserved in
        (
          from: provider.storage.service, to: provider.registry.provider(of: service)?.storage.service ?? service,
          isObserved: isObserved
        )
      }
    }
    // Types of one name are told apart by where they are.
    var meanings: [String: Set<ObjectIdentifier>] = [:]
    for service in providers.map(\.storage.service) + needs.map(\.to) {
      meanings[service.name, default: []].insert(service.identifier)
    }
    func name(of service: Service) -> String {
      meanings[service.name, default: []].count > 1 ? service.qualifiedName : service.name
    }

    let byName = Dictionary(grouping: providers) { name(of: $0.storage.service) }
    var nodes: [DependencyGraph.Node] = []
    var named: Set<String> = []
    for provider in providers {
      let type = name(of: provider.storage.service)
      guard named.insert(type).inserted else { continue }
      let names = byName[type, default: []].compactMap { $0.storage.key.name?.source }
      nodes.append(
        DependencyGraph.Node(
          type: type, scope: provider.storage.scopeName, names: names, place: provider.storage.place.description))
    }
    var edges: [DependencyGraph.Edge] = []
    var drawn: Set<DependencyGraph.Edge> = []
    for need in needs {
      let needed = name(of: need.to)
      if named.insert(needed).inserted { nodes.append(DependencyGraph.Node(type: needed)) }
      let edge = DependencyGraph.Edge(from: name(of: need.from), to: needed, isObserved: need.isObserved)
      if drawn.insert(edge).inserted { edges.append(edge) }
    }
    return DependencyGraph(nodes: nodes, edges: edges)
  }
}
