/// The link from a property or a factory to the registry that it asks.
enum RegistryLink {
  case shared
  /// A registry that the asker keeps alive.
  case registry(InitializerRegistry)
  /// A registry behind a reference, which may be weak or become weak.
  case reference(RegistryReference)

  static var current: RegistryLink {
    let thread = CurrentThread.current
    if let registry = thread.registry { return .of(registry, weakly: thread.linksWeakly) }
    guard let context = TaskContext.current else { return .shared }
    if thread.linksWeakly(in: context) { return .of(context.registry, weakly: true) }
    return context.registry === InitializerRegistry.shared ? .shared : .reference(context.reference)
  }

  /// - Parameter isWeak: Whether the asker has to hold the registry weakly, because a registry may keep the asker.
  static func of(_ registry: InitializerRegistry, weakly isWeak: Bool) -> RegistryLink {
    if registry === InitializerRegistry.shared { return .shared }
    return isWeak ? .reference(registry.weakReference) : .registry(registry)
  }

  var registry: InitializerRegistry? {
    switch self {
    case .shared: .shared
    case .registry(let registry): registry
    case .reference(let reference): reference.registry
    }
  }

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

  /// Whether the registry is held weakly; then objects that the asker makes have to hold the registry weakly, too.
  var isWeak: Bool { if case .reference(let reference) = self { reference.isWeak } else { false } }
}
