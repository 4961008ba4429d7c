internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Calls `postInject()` on each registered ``PostInjectable`` instance, in the order of registration.
  ///
  /// This method holds no lock during the calls, and ignores instances that are registered in a parent. An object that
  /// is registered twice gets only one call of `postInject()`.
  public func postInjectInstances() {
    var called: Set<ObjectIdentifier> = []
    for record in registrations {
      // The cast also unwraps an Optional, so that the next check sees the wrapped object, not the Optional.
      guard let instance = record.instance as? any PostInjectable else { continue }
      let isObject = type(of: instance) is any AnyObject.Type
      if isObject && !called.insert(ObjectIdentifier(instance as AnyObject)).inserted { continue }
      instance.postInject()
    }
  }

  /// Calls the hooks of a registration, and then the hooks of this registry, for a request without a property.
  func callHooks(_ memory: ValueMemory, of record: RegistrationRecord, at point: InjectionPoint) {
    let thread = CurrentThread.current
    thread.callingHooks {
      let type = record.service == point.service ? record.service.type : point.propertyType
      record.callHooks(memory, type, at: point, on: thread)
      hooks.call(memory, point.propertyType, at: point)
    }
  }
}

/// Hooks that are called in the order in which they were added.
struct Hooks: ~Copyable, Sendable {
  typealias Hook = @Sendable (Any, InjectionPoint) -> Void
  private let isUsed = Atomic(false)
  private let hooks = Lock<[Hook]>([])

  /// Whether there are any hooks, determined without a lock.
  ///
  /// Relaxed ordering suffices: a thread that has synchronized with the thread that added a hook sees the flag set.
  var areUsed: Bool { isUsed.load(ordering: .relaxed) }

  func add(_ hook: @escaping Hook) {
    hooks.withLock { $0.append(hook) }
    isUsed.store(true, ordering: .relaxed)
  }

  /// Calls every hook, with no lock held.
  ///
  /// If a hook is already running on this thread, the function calls no hooks, because hooks that cause each other's
  /// calls might never end.
  func call(_ memory: ValueMemory, _ type: any Any.Type, at point: InjectionPoint) {
    if !areUsed { return }
    let thread = CurrentThread.current
    if thread.fields.turn.isInHook { return }
    thread.fields.turn.isInHook = true
    defer { thread.fields.turn.isInHook = false }
    let value = memory.any(type)
    for hook in hooks.withLock({ $0 }) { hook(value, point) }
  }
}
