public import SpellRegistry

extension InitializerRegistry {
  /// Returns an error for each property for which nothing is registered, in this registry or a parent, and which would stop
  /// the program at its first read.
  ///
  /// ```swift
  /// let properties = WrappedProperty.all(inModules: "MyApp")
  /// #expect(registry.validate(properties: properties).isEmpty)
  /// ```
  ///
  /// Nothing is made, and nothing is reported that may be right:
  ///
  /// - a property whose declaration may give a name, as `@Injected("night")`, is served by a registration with any name;
  /// - a class's property is served by what is registered for a subclass, since the class may have no objects of its own;
  /// - a `@Lazy` may have an expression, and a `@Final` be assigned before it is read: they are never reported.
  ///
  /// `validate()` checks the registrations themselves. Costs a microsecond or two for each property, and more for each that is reported.
  public func validate(properties: [WrappedProperty]) -> [InjectionError] {
    properties.map(\.declaration).compactMap { property in
      property.necessity == .required && typeServing(property) == nil ? missing(property) : nil
    }
  }

  /// Returns what depends on what: what `graph()` returns, and who has a property that a registration serves.
  ///
  /// A type that is needed by a property and that nothing serves is missing in the graph. A property that does without has
  /// an edge if something serves it.
  public func graph(properties: [WrappedProperty]) -> DependencyGraph {
    let graph = graph()
    var (nodes, edges) = (graph.nodes, graph.edges)
    var (named, drawn) = (Set(nodes.map(\.type)), Set(edges))
    for property in properties {
      let declaration = property.declaration
      let missing = declaration.necessity == .required ? declaration.types.last : nil
      guard let needed = typeServing(declaration) ?? missing else { continue }
      let (from, to) = (nodeName(of: property, among: named), TypeName.of(needed))
      if named.insert(from).inserted { nodes.append(DependencyGraph.Node(type: from, isContainer: true)) }
      if named.insert(to).inserted { nodes.append(DependencyGraph.Node(type: to)) }
      let edge = DependencyGraph.Edge(from: from, to: to)
      if drawn.insert(edge).inserted { edges.append(edge) }
    }
    return DependencyGraph(nodes: nodes, edges: edges)
  }

  /// The name of a property's container: the one that its registration has, else with the types that it is in.
  private func nodeName(of property: WrappedProperty, among names: Set<String>) -> String {
    let name = TypeName.of(property.containerType)
    return names.contains(name) ? name : property.containerName
  }
}
