internal import Synchronization

// The shortest ways of a first read: by the property's own expression, and by one look at the registry (benchmarks: "first
// read of @Lazy", "make an object and read its @Injected"). Either does nothing if more than this has a say in the value;
// then `PropertyStorage+Creation.swift` goes on.
//
// Only the slot knows the value's type, and is compiled where the type is known; the record's part is compiled once.

extension PropertySlot {
  /// Makes the value by the property's own expression, if nothing else has a say in it: nothing is there yet, no
  /// registration is for a class of containers, and neither a hook nor the container wants to hear of it.
  ///
  /// - Parameter container: The object that holds the property, if one does.
  /// - Returns: Whether the value was made, so that the slot is ready; else call `makeValue`.
  @inlinable package func makeFromExpression(in container: AnyObject?) -> Bool {
    guard let expression = fields.expression, fields.options == nil else { return false }
    guard let supply = try? record.make(Value.self, in: container, by: { memory.put(expression()) }) else {
      return false
    }
    return end(supply, in: container)
  }

  /// Makes the value that the registry gives by one look, if nothing else has a say in it: nothing is there yet, the
  /// declaration has only a type or a key, and no hook wants to hear of it.
  ///
  /// - Parameter container: The object that holds the property, if one does.
  /// - Returns: Whether the value was made, so that the slot is ready; else call `makeValue`.
  @inlinable package func makeFromRegistration(in container: AnyObject?) throws(InjectionError) -> Bool {
    if fields.options != nil { return false }
    let supply = try record.inject(memory, Value.self, in: container) { kept in
      memory.put(kept.value(as: Value.self))
    }
    return end(supply, in: container)
  }

  /// Returns whether there is a value, after the hooks that were added meanwhile.
  @inlinable func end(_ supply: Supply, in container: AnyObject?) -> Bool {
    switch supply {
    case .value: return true
    case .nothing: return false
    case .heardValue(let registration):
      record.announce(unsafeValue, of: registration, in: container)
      return true
    }
  }
}

extension PropertyRecord {
  /// Runs the property's own expression as the thread that makes the value, if the value is vacant.
  ///
  /// - Throws: `.cycle` or `.stackExhausted`, before the expression runs.
  @usableFromInline func make(
    _ type: any Any.Type, in container: AnyObject?, by expression: () -> Void
  ) throws(InjectionError) -> Supply {
    guard let reference else { return try make(type, in: container, for: .shared, by: expression) }
    guard !reference.isWeak, let registry = reference.registry else { return .nothing(nil) }
    return try make(type, in: container, for: registry, by: expression)
  }

  private func make(
    _ type: any Any.Type, in container: AnyObject?, for registry: InitializerRegistry, by expression: () -> Void
  ) throws(InjectionError) -> Supply {
    if registry.hasClassConstraints || registry.hooks.areUsed { return .nothing(nil) }
    if let container, ObserverCache.observes(Swift.type(of: container)) { return .nothing(nil) }
    let thread = ThreadState.current
    return try make(on: thread) { () throws(InjectionError) in
      let frame = ResolutionFrame(on: thread, type: type, asker: asker(in: container), gate: gate.identity)
      try thread.making(frame, at: { InjectionStep(Service(type)) }) { expression() }
      return registry.isHeard(nil) ? .heardValue(nil) : .value
    }
  }

  /// Lets the registry give the value to the thread that makes it, if the value is vacant and one look at the registry
  /// suffices.
  ///
  /// - Parameters:
  ///   - memory: Where the value goes.
  ///   - copy: Copies a value to the memory from where it is kept.
  @usableFromInline func inject(
    _ memory: ValueMemory, _ valueType: any Any.Type, in container: AnyObject?,
    copying copy: (ValueMemory) -> Void
  ) throws(InjectionError) -> Supply {
    if let container, ObserverCache.observes(type(of: container)) { return .nothing(nil) }
    // Each registry apart, since one of the two as a value would be retained.
    guard let reference else {
      return try inject(memory, Service(valueType, key: key), in: container, from: .shared, copying: copy)
    }
    guard !reference.isWeak, let registry = reference.registry else { return .nothing(nil) }
    return try inject(memory, Service(valueType, key: key), in: container, from: registry, copying: copy)
  }

  private func inject(
    _ memory: ValueMemory, _ service: Service, in container: AnyObject?,
    from registry: InitializerRegistry, copying copy: (ValueMemory) -> Void
  ) throws(InjectionError) -> Supply {
    let thread = ThreadState.current
    return try make(on: thread) { () throws(InjectionError) in
      switch registry.look(for: service, named: .ofProperty, inContainer: container != nil, on: thread, copying: copy) {
      case .copied: return .value
      case .other: return .nothing(nil)
      case .initializer(let registration):
        try registry.initialize(
          memory, by: registration, asker: asker(in: container), gate: gate.identity, on: thread,
          at: { InjectionPoint(service, of: identity, in: container) })
        return registry.isHeard(registration) ? .heardValue(registration) : .value
      }
    }
  }

  /// Runs `body`, which makes the value, as the thread that makes it, if the value is vacant.
  @inline(__always) private func make(
    on thread: CurrentThread, _ body: () throws(InjectionError) -> Supply
  ) throws(InjectionError) -> Supply {
    guard gate.begin(from: CreationGate.vacant, on: thread.id) else { return .nothing(nil) }
    // Taken before the value is made: a re-injection in between makes it outdated, never the reverse.
    let epoch = currentEpoch
    do throws(InjectionError) {
      let supply = try body()
      if case .nothing = supply {
        gate.settle(as: CreationGate.vacant, on: thread.id)
        return supply
      }
      hasValue.store(true, ordering: .relaxed)
      gate.settle(as: epoch, on: thread.id)
      if case .value = supply { thread.completeResolution() }
      return supply
    } catch {
      gate.settle(as: CreationGate.vacant, on: thread.id)
      throw error
    }
  }

  /// The property, as one that asks.
  func asker(in container: AnyObject?) -> ResolutionFrame.Asker {
    ResolutionFrame.Asker(
      container: container.map { ObjectIdentifier($0) }, property: identity.address, isKept: reference?.isWeak ?? false)
  }

  /// Calls the hooks that were added while the value was made.
  @usableFromInline func announce<Value>(
    _ value: Value, of registration: RegistrationStorage?, in container: AnyObject?
  ) {
    let registry = reference.map { $0.registry } ?? .shared
    registry?.announce(
      value, of: registration, at: InjectionPoint(Service(Value.self, key: key), of: identity, in: container))
  }
}
