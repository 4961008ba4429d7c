public import SpellRegistry

extension InitializerRegistry {
  /// Returns the dependencies of the autowired initializers of this registry and its parents.
  ///
  /// Runs nothing. What a closure asks its resolver for isn't known before it runs: ``graph(_:)`` records it.
  public func graph() -> DependencyGraph { graph(with: []) }

  /// Runs `body` with this registry as the current one, and returns the dependencies that ``graph()`` returns and those
  /// that initializers asked for meanwhile.
  ///
  /// ```swift
  /// let graph = try registry.graph { _ = try registry.resolve(Checkout.self) }
  /// ```
  ///
  /// Requests of hooks, and of code outside of initializers, aren't dependencies. A type that another registry provides
  /// isn't missing. Initializers of values that are kept already don't run, so use a new registry.
  ///
  /// - Parameter body: Resolves what you want to see. Its result is ignored.
  /// - Throws: What `body` throws.
  public func graph<Result>(_ body: () throws -> Result) rethrows -> DependencyGraph {
    graph(with: try requests(during: body))
  }

  /// Runs an async `body`, as the form for other closures does.
  ///
  /// - Parameters:
  ///   - isolation: The actor that `body` runs on; the caller's.
  ///   - body: Resolves what you want to see. Its result is ignored.
  /// - Throws: What `body` throws.
  public func graph<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> DependencyGraph {
    graph(with: try await requests(during: body))
  }

  private func graph(with requests: [RequestRecorder.Request]) -> DependencyGraph {
    let wiring = Wiring(of: self)
    let roots = wiring.providers[..<wiring.rootCount].map(\.record)
    let names = GraphNames(
      roots: roots,
      services: wiring.providers.map(\.record.service) + wiring.needs.joined().map(\.service)
        + requests.flatMap { [$0.asker?.service, $0.provider?.service].compactMap(\.self) + [$0.service] })
    var graph = GraphBuilder()
    for (_, records) in Dictionary(grouping: roots, by: \.service).sorted(by: { $0.value[0].age < $1.value[0].age }) {
      graph.add(records, named: names.name(of: records[0]))
    }
    for (asker, needs) in zip(wiring.providers, wiring.needs) {
      for need in needs {
        let provider = need.provider.map { wiring.providers[$0].record }
        let isOthers = provider == nil && asker.registry !== self
        graph.connect(asker.record, to: provider, need.service, names, isOthers: isOthers, isObserved: false)
      }
    }
    for request in requests {
      if let asker = request.asker {
        graph.connect(asker, to: request.provider, request.service, names, isOthers: false, isObserved: true)
      } else if let provider = request.provider {
        // Not a dependency, but the picture shows what was made.
        graph.add([provider], named: names.name(of: provider))
      }
    }
    return graph.graph
  }
}

/// The names that registrations and missing services have in a graph.
private struct GraphNames {
  private let roots: Set<ObjectIdentifier>
  private let rootServices: Set<Service>
  /// The services of each name: if there are several, their modules tell them apart.
  private let meanings: [String: Set<Service>]

  /// - Parameters:
  ///   - roots: The registrations that the registry which is drawn reaches first.
  ///   - services: All that is drawn.
  init(roots: [RegistrationRecord], services: [Service]) {
    self.roots = Set(roots.map { ObjectIdentifier($0) })
    rootServices = Set(roots.map(\.service))
    meanings = Dictionary(grouping: services, by: \.name).mapValues { Set($0) }
  }

  func name(of record: RegistrationRecord) -> String {
    name(of: record.service, isOthers: !roots.contains(ObjectIdentifier(record)))
  }

  func name(of service: Service, isOthers: Bool) -> String {
    let name = meanings[service.name, default: []].count > 1 ? service.qualifiedName : service.name
    return isOthers && rootServices.contains(service) ? "\(name) of another registry" : name
  }
}

/// A graph that grows, in which each node and each edge is once.
struct GraphBuilder {
  private(set) var graph = DependencyGraph(nodes: [], edges: [])
  private var named: Set<String> = []
  private var drawn: Set<[String]> = []

  init(_ graph: DependencyGraph = DependencyGraph(nodes: [], edges: [])) {
    for node in graph.nodes { add(node) }
    for edge in graph.edges { add(edge) }
  }

  mutating func add(_ node: DependencyGraph.Node) {
    if named.insert(node.type).inserted { graph.nodes.append(node) }
  }

  mutating func add(_ edge: DependencyGraph.Edge) {
    if drawn.insert([edge.from, edge.to]).inserted { graph.edges.append(edge) }
  }

  /// Adds a node for registrations of one service; one that is missing if there are none.
  fileprivate mutating func add(_ records: [RegistrationRecord], named name: String) {
    add(
      DependencyGraph.Node(
        type: name, scope: records.first?.scopeName, names: records.compactMap { $0.name?.source },
        place: records.first?.place.description))
  }

  /// Adds an edge from an initializer to what it needs, and the nodes that aren't there.
  fileprivate mutating func connect(
    _ asker: RegistrationRecord, to provider: RegistrationRecord?, _ service: Service, _ names: GraphNames,
    isOthers: Bool, isObserved: Bool
  ) {
    let from = names.name(of: asker)
    let to = provider.map(names.name(of:)) ?? names.name(of: service, isOthers: isOthers)
    add([asker], named: from)
    add(provider.map { [$0] } ?? [], named: to)
    add(DependencyGraph.Edge(from: from, to: to, isObserved: isObserved))
  }
}
