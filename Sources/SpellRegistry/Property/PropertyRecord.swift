public import Synchronization

/// What a property has that doesn't depend on the type of its value: the state of the value, and part of the declaration.
@frozen @usableFromInline struct PropertyRecord: ~Copyable {
  @usableFromInline let gate: CreationGate
  /// The epoch of the latest re-injection, as a state that is ready; see ``InitializerRegistry/reinject(_:)``.
  @usableFromInline let epoch: UnsafePointer<Atomic<UInt>>
  /// The storage whose value took the place of this one's, retained; only with a gate that is replaced.
  @usableFromInline let newer: Atomic<UnsafeMutableRawPointer?>
  /// Whether there is a value, whether it can be read or was replaced.
  ///
  /// Relaxed, here and below: it is set by the thread that began the gate, and read after the gate by that thread or another.
  @usableFromInline let hasValue = Atomic(false)
  /// Whether the value was assigned, so that no re-injection takes its place.
  @usableFromInline let isAssigned = Atomic(false)
  @usableFromInline let place: SourcePlace
  /// The declared key to ask for instead of the type.
  @usableFromInline let key: InjectionKeys?
  /// The registry that took the place of the shared one; nil if none did.
  @usableFromInline let reference: RegistryReference?

  @inlinable init(at place: SourcePlace, key: InjectionKeys?, asking reference: RegistryReference?) {
    gate = CreationGate()
    epoch = RegistryReference.epoch(of: reference)
    newer = Atomic(nil)
    self.place = place
    self.key = key
    self.reference = reference
  }

  /// Which property it is of.
  @inlinable var identity: PropertyIdentity {
    PropertyIdentity(address: withUnsafePointer(to: self) { UnsafeRawPointer($0) }, place: place)
  }
}

/// What the shortest way of a first read has led to.
@usableFromInline enum Supply {
  case nothing
  case value
  /// A value of which hooks that were added meanwhile want to hear; without a registration, the property's own expression's.
  case heardValue(RegistrationStorage?)
}

// MARK: The shortest ways of a first read
//
// Either supplies nothing if more than this has a say in the value. They know nothing of the value's type: what does is in
// the closures, which are compiled where the type is known.

extension PropertyRecord {
  /// Runs the property's own expression as the thread that makes the value, if the value is vacant.
  ///
  /// - Throws: `.cycle` or `.stackExhausted`, before the expression runs.
  @usableFromInline func make(
    _ type: any Any.Type, in container: AnyObject?, by expression: () -> Void
  ) throws(InjectionError) -> Supply {
    guard let reference else { return try make(type, in: container, for: .shared, by: expression) }
    guard !reference.isWeak, let registry = reference.registry else { return .nothing }
    return try make(type, in: container, for: registry, by: expression)
  }

  private func make(
    _ type: any Any.Type, in container: AnyObject?, for registry: InitializerRegistry, by expression: () -> Void
  ) throws(InjectionError) -> Supply {
    if registry.isConcerned(with: container) { return .nothing }
    let thread = ThreadState.current
    return try make(on: thread) { () throws(InjectionError) in
      let frame = ResolutionFrame(
        on: thread, type: type, registration: nil, asker: asker(in: container), gate: gate.identity)
      try thread.making(frame, at: { InjectionStep(type) }) { expression() }
      return registry.isHeard(nil) ? .heardValue(nil) : .value
    }
  }

  /// Lets the registry give the value to the thread that makes it, if the value is vacant and one look at the registry
  /// suffices.
  ///
  /// `copy` and `make` are those of ``InitializerRegistry/supply(_:named:in:copying:orMake:)``.
  @usableFromInline func inject(
    _ valueType: any Any.Type, in container: AnyObject?, copying copy: (UnsafeRawPointer) -> Void,
    orMake make: RegistrationStorage.Initialize
  ) throws(InjectionError) -> Supply {
    if let container, ObserverCache.observes(type(of: container)) { return .nothing }
    // Each registry apart, since one of the two as a value would be retained.
    guard let reference else {
      return try inject(Service(valueType, key: key), in: container, from: .shared, copying: copy, orMake: make)
    }
    guard !reference.isWeak, let registry = reference.registry else { return .nothing }
    return try inject(Service(valueType, key: key), in: container, from: registry, copying: copy, orMake: make)
  }

  private func inject(
    _ service: Service, in container: AnyObject?, from registry: InitializerRegistry,
    copying copy: (UnsafeRawPointer) -> Void, orMake make: RegistrationStorage.Initialize
  ) throws(InjectionError) -> Supply {
    let thread = ThreadState.current
    return try self.make(on: thread) { () throws(InjectionError) in
      switch registry.look(for: service, named: .ofProperty, inContainer: container != nil, on: thread, copying: copy) {
      case .copied: return .value
      case .other: return .nothing
      case .initializer(let registration):
        try registry.makeAtOnce(
          make, of: registration, asker: asker(in: container), gate: gate.identity, in: container, on: thread,
          at: { InjectionPoint(service, of: identity, in: container) })
        return registry.isHeard(registration) ? .heardValue(registration) : .value
      }
    }
  }

  /// Runs `body`, which makes the value, as the thread that makes it, if the value is vacant.
  @inline(__always) private func make(
    on thread: CurrentThread, _ body: () throws(InjectionError) -> Supply
  ) throws(InjectionError) -> Supply {
    guard gate.begin(from: CreationGate.vacant, on: thread.id) else { return .nothing }
    // Taken before the value is made: a re-injection in between makes it outdated, never the reverse.
    let epoch = epoch.pointee.load(ordering: .acquiring)
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

  private func asker(in container: AnyObject?) -> ResolutionFrame.Asker {
    ResolutionFrame.Asker(container: container.map { ObjectIdentifier($0) }, property: identity.address)
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
