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

// MARK: The shortest ways of a first read
//
// Either does nothing, and returns false, if more than this has a say in the value. They know nothing of the value's type:
// what does is in the closures, which are compiled where the type is known.

extension PropertyRecord {
  /// Runs the property's own expression as the thread that makes the value, if the value is vacant.
  ///
  /// - Throws: `.cycle` or `.stackExhausted`, before the expression runs.
  @usableFromInline func make(
    _ type: any Any.Type, in container: AnyObject?, by expression: () -> Void
  ) throws(InjectionError) -> Bool {
    // Each registry apart, since one of the two as a value would be retained.
    let isConcerned =
      if let reference {
        reference.isWeak || reference.registry?.isConcerned(with: container) ?? true
      } else {
        InitializerRegistry.shared.isConcerned(with: container)
      }
    if isConcerned { return false }
    let thread = ThreadState.current
    return try make(on: thread) { () throws(InjectionError) in
      let frame = ResolutionFrame(
        on: thread, type: type, registration: nil, asker: asker(in: container), gate: gate.identity)
      try thread.making(frame, at: { InjectionStep(type) }) { expression() }
      return true
    }
  }

  /// Lets the registry give the value to the thread that makes it, if the value is vacant and one look at the registry
  /// suffices.
  ///
  /// `copy` and `make` are those of ``InitializerRegistry/supply(_:named:in:copying:orMake:)``.
  @usableFromInline func inject(
    _ valueType: any Any.Type, in container: AnyObject?, copying copy: (UnsafeRawPointer) -> Void,
    orMake make: RegistrationStorage.Initialize
  ) throws(InjectionError) -> Bool {
    if let container, ObserverCache.observes(type(of: container)) { return false }
    guard let reference else {
      return try inject(Service(valueType, key: key), in: container, from: .shared, copying: copy, orMake: make)
    }
    guard !reference.isWeak, let registry = reference.registry else { return false }
    return try inject(Service(valueType, key: key), in: container, from: registry, copying: copy, orMake: make)
  }

  private func inject(
    _ service: Service, in container: AnyObject?, from registry: InitializerRegistry,
    copying copy: (UnsafeRawPointer) -> Void, orMake make: RegistrationStorage.Initialize
  ) throws(InjectionError) -> Bool {
    let thread = ThreadState.current
    return try self.make(on: thread) { () throws(InjectionError) in
      switch registry.look(for: service, named: .ofProperty, inContainer: container != nil, on: thread, copying: copy) {
      case .copied: return true
      case .other: return false
      case .initializer(let registration):
        try registry.runInitializer(
          of: registration, asker: asker(in: container), gate: gate.identity, on: thread,
          at: { InjectionPoint(service, of: identity, in: container) }
        ) {
          try make(registration, registry, container)
        }
        return true
      }
    }
  }

  /// Runs `body` as the thread that makes the value, if the value is vacant; returns whether it made the value.
  @inline(__always) private func make(
    on thread: CurrentThread, _ body: () throws(InjectionError) -> Bool
  ) throws(InjectionError) -> Bool {
    guard gate.begin(from: CreationGate.vacant, on: thread.id) else { return false }
    // Taken before the value is made: a re-injection in between makes it outdated, never the reverse.
    let epoch = epoch.pointee.load(ordering: .acquiring)
    do throws(InjectionError) {
      let isMade = try body()
      if isMade { hasValue.store(true, ordering: .relaxed) }
      gate.settle(as: isMade ? epoch : CreationGate.vacant, on: thread.id)
      if isMade { thread.completeResolution() }
      return isMade
    } catch {
      gate.settle(as: CreationGate.vacant, on: thread.id)
      throw error
    }
  }

  private func asker(in container: AnyObject?) -> ResolutionFrame.Asker {
    ResolutionFrame.Asker(container: container.map { ObjectIdentifier($0) }, property: identity.address)
  }
}
