@_exported public import GraphDrawing
public import SpellRegistry

/// A property of the running program that has a wrapper, found without an object.
///
/// ```swift
/// @Test func everyPropertyIsServed() {
///   registerServices(in: .current)
///   let properties = WrappedProperty.all(inModules: "MyApp")
///   #expect(InitializerRegistry.current.validate(properties: properties).isEmpty)
/// }
/// ```
///
/// A wrapper is any type that is a `NamedProperty`: those of this package, and spells of your own. A constant, as
/// `let clock = Injected<Clock>()`, is listed too. Statics, locals and inherited properties aren't; the latter are the
/// superclass's.
public struct WrappedProperty: Sendable, CustomStringConvertible {
  /// The property's name.
  public let name: String
  /// The wrapper's name, such as `Injected`.
  public let wrapper: String
  /// The type of the property.
  public let valueType: any Any.Type
  /// The type that declares the property.
  public let containerType: any Any.Type
  /// The name of the module that declares the type.
  public let module: String
  /// What becomes of the property if nothing is registered for it, as far as its wrapper and its type tell.
  public var necessity: PropertyNeed.Necessity { declaration.necessity }
  /// The name of the type that declares the property, with those of the types that it is declared in.
  let containerName: String
  /// The property as a request to a registry.
  let declaration: DeclaredProperty

  init(
    _ label: String, of valueType: any Any.Type, in containerType: any Any.Type, named containerName: String,
    module: String, wrapper: String, need: PropertyNeed, mayHaveKey: Bool
  ) {
    name = Self.name(ofLabel: label)
    self.wrapper = wrapper
    self.valueType = valueType
    self.containerType = containerType
    self.containerName = containerName
    self.module = module
    // A constant is the wrapper itself, and a struct's property asks like one: with no name, and for no container.
    let container: (any AnyObject.Type)? = name == label ? nil : containerType as? any AnyObject.Type
    declaration = DeclaredProperty(
      "\(containerName).\(name)", of: valueType, need: need, mayHaveKey: mayHaveKey,
      name: container == nil ? nil : name, in: container)
  }

  /// The property and the types that it is in: `Menu.Item.price`.
  public var description: String { declaration.description }

  static func name(ofLabel label: String) -> String { label.hasPrefix("_") ? String(label.dropFirst()) : label }
}

// MARK: Listing

extension WrappedProperty {
  /// Whether the program's types can be listed here.
  ///
  /// True on Linux, Android and the 64-bit systems of Apple; elsewhere, and in a build with signed pointers (arm64e), the
  /// lists are empty.
  public static var isSupported: Bool { LoadedImages.isSupported }

  /// Returns the properties of the running program that have a wrapper, those of private and nested types included.
  ///
  /// Nothing is made: types are found by what the compiler tells the runtime of them, in every image that is loaded. What
  /// ``hiddenTypes(inModules:)`` lists is left out. Costs a few microseconds for each property, and less than one for each
  /// other type; nothing is kept, so a test lists the properties once. Safe to call from any thread, while no image is
  /// being unloaded.
  ///
  /// - Parameter modules: The names of the modules whose types are listed, as in `import`; all modules of the program if
  ///   there are none. The linker leaves out what a program doesn't use of a library.
  public static func all(inModules modules: String...) -> [WrappedProperty] { listing(of: modules).properties }

  /// Returns the types whose wrapped properties can't be told: generic types that have some, and types without reflection
  /// metadata.
  ///
  /// - Parameter modules: The names of the modules whose types are listed; all modules of the program if there are none.
  public static func hiddenTypes(inModules modules: String...) -> [HiddenType] { listing(of: modules).hiddenTypes }

  private static func listing(of modules: [String]) -> ProgramListing {
    let memory = LoadedImages.readableMemory()
    return ProgramListing(ofModules: Set(modules), in: LoadedImages.sections(in: memory), memory)
  }
}

// MARK: Checking

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

// MARK: Types that can't be listed

/// A type of the program whose wrapped properties can't be listed without an object, or not at all.
public struct HiddenType: Sendable, CustomStringConvertible {
  /// Why a type's wrapped properties aren't listed.
  public enum Reason: Sendable, Hashable {
    /// The type, or one that it is declared in, is generic: its properties have other types for each argument.
    case generic
    /// The type was built with `-disable-reflection-metadata`, so its properties have no names.
    case noReflectionMetadata
    /// The runtime finds no type for the metadata.
    case unknownToTheRuntime
  }

  /// The type's name, with those of the types that it is declared in: `Menu.Item`.
  public let name: String
  /// The name of the module that declares the type.
  public let module: String
  /// Why its properties aren't listed.
  public let reason: Reason
  /// The names of its wrapped properties; empty if they have none.
  public let propertyNames: [String]

  /// The type, its properties and the reason, in a sentence.
  public var description: String {
    let subject =
      propertyNames.isEmpty ? "\(module).\(name)" : "\(propertyNames.joined(separator: ", ")) of \(module).\(name)"
    let reason =
      switch reason {
      case .generic: "the type is generic"
      case .noReflectionMetadata: "its module was built with -disable-reflection-metadata"
      case .unknownToTheRuntime: "the runtime doesn't know it"
      }
    return "\(subject): not checked, since \(reason)."
  }
}
