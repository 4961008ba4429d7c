internal import Support

/// A reference from a property or a factory to the registry that provides its values.
enum RegistryLink {
  case shared
  /// The link is strong: the property or factory keeps the registry alive.
  case registry(InitializerRegistry)
  /// The link holds the registry through a reference, which is weak or may become weak later.
  case reference(RegistryReference)

  static var current: RegistryLink {
    let thread = CurrentThread.current
    let frame = thread.innermost
    if let registry = frame?.registry?.object {
      return .of(registry, weakly: thread.isKept(frame, in: .current))
    }
    guard let context = TaskContext.current else { return .shared }
    return thread.isKept(frame, in: context) ? .of(context.registry, weakly: true) : context.link
  }

  /// Returns a link that keeps `registry` alive or, if `isWeak` is true, a weak link.
  ///
  /// - Parameter isWeak: Whether the link has to be weak, because a registry may keep the factory, or the object that
  ///   has the property.
  static func of(_ registry: InitializerRegistry, weakly isWeak: Bool) -> RegistryLink {
    if registry === InitializerRegistry.shared { return .shared }
    return isWeak ? .reference(registry.weakReference) : .registry(registry)
  }

  /// The registry, and whether the link holds it weakly; nil if the registry no longer exists.
  ///
  /// If the link is weak, all new objects that are made for the property or factory must also hold their registry
  /// weakly.
  var target: (registry: InitializerRegistry, isWeak: Bool)? {
    switch self {
    case .shared: (.shared, false)
    case .registry(let registry): (registry, false)
    case .reference(let reference): reference.target
    }
  }

  var registry: InitializerRegistry? { target?.registry }

  /// The reporter of the linked registry, even if that registry no longer exists; always nil for the shared registry.
  var reporter: RegistryReporter? {
    switch self {
    case .shared: nil
    case .registry(let registry): registry.reporter
    case .reference(let reference): reference.reporter
    }
  }

  /// The sentences on why the linked registry no longer exists, and what to hold.
  ///
  /// - Parameter asker: The property or the factory that asks, for the message.
  func advice(ifGoneFor asker: String) -> String {
    if let test = reporter?.receivers.withLock(\.test) {
      return """
        The registry that \(asker) asks is gone. It was that of the test \(test), which has ended. Let the test await the \
        work that still goes on, or let that work hold the registry: let registry = InitializerRegistry.current. Make a \
        static object in each test instead, or register it and inject it.
        """
    }
    return """
      The registry that \(asker) asks is gone. An object that a registry keeps, and one made in a `run` that registers \
      something, doesn't keep the registry: hold the registry for as long as you use the object. A test's registry ends with \
      the test: make the object in each test, not as a static, or register it and inject it.
      """
  }

  /// Whether the link holds the registry weakly.
  ///
  /// Unlike ``target``, this is known even if the registry no longer exists.
  var isWeak: Bool { if case .reference(let reference) = self { reference.isWeak } else { false } }
}
