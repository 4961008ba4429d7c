extension PropertyCell {
  /// Calls the hooks for one injection with no lock held: the registration's hooks, the property's hook, the
  /// container's ``InjectionObserver``, and the registry's hooks.
  func callHooks(
    _ memory: ValueMemory, of match: Match?, by registry: InitializerRegistry?, in container: AnyObject?,
    hasHook: Bool = true, on thread: CurrentThread = .current, hook: (AnyObject) -> Void
  ) {
    let observes = container.map { thread.observes(type(of: $0)) } ?? false
    if !hasHook && !observes && match == nil && !(registry?.hooks.areUsed ?? false) { return }
    callHooksInUse(memory, of: match, by: registry, in: container, observes: observes, on: thread, hook: hook)
  }

  @inline(never) private func callHooksInUse(
    _ memory: ValueMemory, of match: Match?, by registry: InitializerRegistry?, in container: AnyObject?,
    observes: Bool, on thread: CurrentThread, hook: (AnyObject) -> Void
  ) {
    // The property's name is found before the hooks run. Reflection finds the name by the property's storage, and a
    // hook may replace this storage.
    let point = point(in: container).withKnownName()
    thread.callingHooks {
      match?.record.callHooks(memory, fields.type, at: point, on: thread)
      if let container { hook(container) }
      if observes, let container { observer(container)?.notify(memory.any(fields.type), at: point) }
      registry?.callOwnHooks(memory, fields.type, of: match, at: point)
    }
  }
}
