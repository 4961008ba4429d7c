/// The link from a property or a factory to the registry that it asks.
enum RegistryLink {
  case shared
  /// A registry that the property or factory keeps alive.
  case registry(InitializerRegistry)
  /// A registry behind a reference, which may be weak or become weak.
  case reference(RegistryReference)

  static var current: RegistryLink {
    let thread = CurrentThread.current
    if let registry = thread.registry { return .of(registry, weakly: thread.linksWeakly) }
    guard let context = TaskContext.current else { return .shared }
    return thread.linksWeakly(in: context) ? .of(context.registry, weakly: true) : context.link
  }

  /// - Parameter isWeak: Whether the link has to be weak, because a registry may keep the property's object or the
  ///   factory.
  static func of(_ registry: InitializerRegistry, weakly isWeak: Bool) -> RegistryLink {
    if registry === InitializerRegistry.shared { return .shared }
    return isWeak ? .reference(registry.weakReference) : .registry(registry)
  }

  /// The registry, and whether it is held weakly; nil if it is gone.
  ///
  /// If the link is weak, the links of new objects that are made for the property or factory have to be weak, too.
  var target: (registry: InitializerRegistry, isWeak: Bool)? {
    switch self {
    case .shared: (.shared, false)
    case .registry(let registry): (registry, false)
    case .reference(let reference): reference.target
    }
  }

  var registry: InitializerRegistry? { target?.registry }

  /// The registry's reporter, if a test has one; it outlives the registry.
  var reporter: RegistryReporter? {
    switch self {
    case .shared: nil
    case .registry(let registry): registry.reporter
    case .reference(let reference): reference.reporter
    }
  }

  static func advice(ifGoneFor asker: String) -> String {
    """
    The registry that \(asker) asks is gone. An object that a registry keeps, and one made in a `run` that registers \
    something, doesn't keep the registry: hold the registry for as long as you use the object. A test's registry ends with \
    the test: make the object in each test, not as a static, or register it and inject it.
    """
  }

  /// Whether the registry is held weakly, even if it is gone.
  var isWeak: Bool { if case .reference(let reference) = self { reference.isWeak } else { false } }
}
