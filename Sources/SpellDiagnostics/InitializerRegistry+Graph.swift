public import SpellRegistry

extension InitializerRegistry {
  /// Returns a graph of the registrations in this registry and its parents, and of the dependencies that autowired
  /// initializers have.
  ///
  /// No initializer runs. The requests of a closure to its resolver aren't known before the closure runs. To include
  /// a closure's requests, use ``graph(_:)``.
  public func graph() -> DependencyGraph { graph(with: []) }

  /// Runs `body` with this registry as the current registry, and returns ``graph()`` together with the requests that
  /// initializers made during the run.
  ///
  /// ```swift
  /// let graph = try registry.graph { try registry.resolve(Checkout.self) }
  /// ```
  ///
  /// Requests from hooks of registrations and registries, and from code outside initializers, aren't dependencies. If
  /// an initializer reads a property that has a hook of its own, the hook's requests count as the initializer's. A type
  /// that another registry provides isn't shown as missing. If a value is already kept, its initializer doesn't run and
  /// makes no requests, so use a new registry.
  ///
  /// - Parameter body: A closure that resolves the values whose dependencies you want to see. Its result is ignored.
  /// - Throws: The error that `body` throws.
  public func graph<Result>(_ body: () throws -> Result) rethrows -> DependencyGraph {
    graph(with: try requests(during: body))
  }

  /// Runs an async `body` with this registry as the current registry, and returns ``graph()`` together with the
  /// requests that initializers made during the run.
  ///
  /// - Parameters:
  ///   - isolation: The actor that `body` runs on. The default is the caller's.
  ///   - body: A closure that resolves the values whose dependencies you want to see. Its result is ignored.
  /// - Throws: The error that `body` throws.
  public func graph<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> DependencyGraph {
    graph(with: try await requests(during: body))
  }

  /// Returns ``graph()``, extended with the given recorded requests and with the dependencies of the given properties.
  func graph(with requests: [RecordedRequest], properties: [PropertyLink] = []) -> DependencyGraph {
    let wiring = Wiring(of: self)
    let needs = zip(wiring.providers, wiring.needs).flatMap { asker, needs in
      needs.map { need in
        let provider = need.provider.map { wiring.providers[$0].record }
        return Link(
          asker: asker.record, provider: provider, service: need.service, isOthers: asker.registry !== self,
          isObserved: false)
      }
    }
    let asked = requests.map {
      Link(asker: $0.asker, provider: $0.provider, service: $0.service, isOthers: false, isObserved: true)
    }
    let roots = wiring.providers[..<wiring.rootCount].map(\.record)
    let hidden = Set(lineage.flatMap(\.hiddenRegistrations).map { ObjectIdentifier($0) })
    return Drawing(roots: roots, hidden: hidden, links: needs + asked, properties: properties).graph
  }
}

/// A property to draw, with the type that declares it and the service that it needs.
struct PropertyLink {
  let container: Service
  /// The name that the graph shows for the declaring type, if this type is neither registered nor needed.
  let containerName: String
  /// The registration that provides the property's value; nil if no registration provides it.
  let provider: RegistrationRecord?
  let service: Service
}

/// A request that the graph shows as an arrow: a declared need of an initializer, or a recorded request.
///
/// A recorded request was made by an initializer or by other code.
private struct Link {
  /// The registration whose initializer makes the request; nil for other code.
  let asker: RegistrationRecord?
  /// The registration that provides the requested value; nil if no registration provides it.
  let provider: RegistrationRecord?
  let service: Service
  /// Whether an initializer declares the request, and the request goes to a registry other than the graph's registry.
  let isOthers: Bool
  let isObserved: Bool
}

/// A builder of a graph from registrations and the requests between them.
private struct Drawing {
  private let roots: [RegistrationRecord]
  /// The registrations that others hide.
  private let hidden: Set<ObjectIdentifier>
  private let links: [Link]
  private let properties: [PropertyLink]
  private let rootIDs: Set<ObjectIdentifier>
  private let rootServices: Set<Service>
  /// The services that are registered or needed.
  private let services: Set<Service>
  /// The registered and needed services and the other containers, grouped by their labels in the graph.
  ///
  /// If several of them have the same label, the graph shows each of them with its module's name.
  private let meanings: [String: Set<Service>]

  /// - Parameters:
  ///   - roots: The registrations of the graph's registry and its parents.
  ///   - hidden: The registrations that others hide.
  ///   - links: The requests to draw.
  ///   - properties: The properties to draw.
  init(
    roots: [RegistrationRecord], hidden: Set<ObjectIdentifier>, links: [Link], properties: [PropertyLink]
  ) {
    self.roots = roots
    self.hidden = hidden
    self.links = links
    self.properties = properties
    rootIDs = Set(roots.map { ObjectIdentifier($0) })
    rootServices = Set(roots.map(\.service))
    let others = links.flatMap { [$0.asker?.service, $0.provider?.service ?? $0.service].compactMap(\.self) }
    services = rootServices.union(others + properties.map { $0.provider?.service ?? $0.service })
    var meanings = Dictionary(grouping: services) { $0.title + $0.keySuffix }.mapValues { Set($0) }
    for property in properties where !services.contains(property.container) {
      meanings[property.containerName, default: []].insert(property.container)
    }
    self.meanings = meanings
  }

  var graph: DependencyGraph {
    let named = Dictionary(grouping: roots, by: \.service)
    var nodes = roots.map { root in
      var node = node(of: root)
      node.names = named[root.service, default: []].compactMap { $0.name?.source }
      return node
    }
    var edges: [DependencyGraph.Edge] = []
    for link in links {
      let asker = link.asker.map(node(of:))
      // A request by code outside initializers isn't a dependency, but the registration of the requested value is a
      // node.
      if asker == nil && link.provider == nil { continue }
      let needed = link.provider.map(node(of:)) ?? node(of: link.service, isOthers: link.isOthers)
      nodes += [asker, needed].compactMap(\.self)
      if let asker { edges.append(.init(from: asker.type, to: needed.type, isObserved: link.isObserved)) }
    }
    for property in properties {
      let isContainer = !services.contains(property.container)
      var container = node(of: property.container, titled: isContainer ? property.containerName : nil)
      container.isContainer = isContainer
      let needed = property.provider.map(node(of:)) ?? node(of: property.service)
      nodes += [container, needed]
      edges.append(.init(from: container.type, to: needed.type))
    }
    return DependencyGraph(nodes: nodes, edges: edges)
  }

  private func node(of record: RegistrationRecord) -> DependencyGraph.Node {
    let isRoot = rootIDs.contains(ObjectIdentifier(record))
    // Without an addition, what is hidden would be the same node as its hider.
    let isHidden = hidden.contains(ObjectIdentifier(record))
    let addition = isHidden ? " of \(record.place)" : record.isDefault && !isRoot ? ", its own value" : ""
    var node = node(of: record.service, isOthers: !isRoot && !record.isDefault, adding: addition)
    (node.scope, node.place) = (record.scopeName, record.place.description)
    node.names = record.name.map { [$0.source] } ?? []
    return node
  }

  /// Returns the node of a service that has no registration.
  ///
  /// Its name has the module if several services or containers have the title.
  ///
  /// - Parameters:
  ///   - title: The title of a container; nil for the service's own.
  ///   - isOthers: Whether the service is another registry's.
  ///   - addition: The end of the name.
  private func node(
    of service: Service, titled title: String? = nil, isOthers: Bool = false, adding addition: String = ""
  ) -> DependencyGraph.Node {
    let title = title ?? service.title
    let isAmbiguous = meanings[title + service.keySuffix, default: []].count > 1
    let name = isAmbiguous ? service.qualifiedName : title
    let end = (isOthers && rootServices.contains(service) ? " of another registry" : "") + addition
    return DependencyGraph.Node(type: name + service.keySuffix + end, key: service.key?.place, title: name + end)
  }
}

extension Service {
  /// The type in words: `Clock` or, for a factory, a text such as `factory of Ticket from Int`.
  fileprivate var title: String {
    guard let factory = type as? any FactoryType.Type else { return TypeName.of(type) }
    let arguments = factory.argumentTypes.map { TypeName.of($0) }.joined(separator: ", ")
    return "factory of \(TypeName.of(factory.madeType))" + (arguments.isEmpty ? "" : " from \(arguments)")
  }
}
