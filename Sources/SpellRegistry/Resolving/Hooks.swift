internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Whether this registry or a parent has hooks.
  var mayCallHooks: Bool {
    @inline(__always) get { hooks.areUsed || parent != nil && parentMayCallHooks }
  }
  /// Whether any hook may get what this registry gets from a registration.
  @inline(__always) func mayCallHooks(of record: RegistrationRecord) -> Bool {
    record.hooks.areUsed || mayCallHooks
  }
  private var parentMayCallHooks: Bool { parent?.mayCallHooks ?? false }

  /// Calls the hooks of a registration and of the registries, for a request without a property.
  ///
  /// - Parameters:
  ///   - memory: The memory of a value of the type that `point` requests.
  ///   - match: The registration that made the value, or whose factory made it.
  func callHooks(_ memory: ValueMemory, of match: Match, at point: InjectionPoint) {
    let thread = CurrentThread.current
    thread.callingHooks {
      match.record.callHooks(memory, point.propertyType, at: point, on: thread)
      callOwnHooks(memory, point.propertyType, of: match, at: point)
    }
  }

  /// Calls the hooks of this registry, which was asked, and then those of the registry that keeps the value.
  func callOwnHooks(_ memory: ValueMemory, _ type: any Any.Type, of match: Match?, at point: InjectionPoint) {
    hooks.call(memory, type, at: point)
    if let match, match.owner !== self, match.record.lifetime.isShared || match.record.isInstance {
      match.owner.hooks.call(memory, type, at: point, askedByChild: true)
    }
  }
}

/// Hooks that are called in the order in which they were added.
struct Hooks: ~Copyable, Sendable {
  typealias Hook = @Sendable (Any, InjectionPoint) -> Void
  private let isUsed = Atomic(false)
  /// The hooks, each with whether it is also called for what its registry keeps, if a child was asked.
  private let hooks = Lock<[(hook: Hook, isForChildren: Bool)]>([])

  init() {}

  /// Creates a copy of the hooks of a registry that ends.
  init(copying other: borrowing Hooks) {
    let copied = other.hooks.withLock(\.self)
    hooks.withLock { $0 = copied }
    isUsed.store(other.areUsed, ordering: .relaxed)
  }

  /// Whether there are any hooks, determined without a lock.
  ///
  /// Relaxed ordering suffices: a thread that has synchronized with the thread that added a hook sees the flag set.
  var areUsed: Bool { isUsed.load(ordering: .relaxed) }

  func add(isForChildren: Bool = true, _ hook: @escaping Hook) {
    hooks.withLock { $0.append((hook, isForChildren)) }
    isUsed.store(true, ordering: .relaxed)
  }

  /// Calls every hook, with no lock held.
  ///
  /// If a hook is already running on this thread, the function calls no hooks, because hooks that cause each other's
  /// calls might never end.
  func call(_ memory: ValueMemory, _ type: any Any.Type, at point: InjectionPoint, askedByChild: Bool = false) {
    if !areUsed { return }
    let thread = CurrentThread.current
    if thread.fields.turn.isInHook { return }
    thread.fields.turn.isInHook = true
    defer { thread.fields.turn.isInHook = false }
    let value = memory.any(type)
    for (hook, isForChildren) in hooks.withLock({ $0 }) where isForChildren || !askedByChild { hook(value, point) }
  }
}
