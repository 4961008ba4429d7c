public import Synchronization

/// What a property has that doesn't depend on the type of its value: the state of the value, and part of the declaration.
@frozen @usableFromInline struct PropertyRecord: ~Copyable {
  @usableFromInline let gate: CreationGate
  /// The epoch of the latest re-injection, as a state that is ready; see ``InitializerRegistry/reinject(_:)``.
  @usableFromInline let epoch: AtomicWords
  /// The storage whose value took the place of this one's; only with a gate that is replaced.
  @usableFromInline let newer = AtomicReference<PropertyBuffer.Erased>()
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
    self.place = place
    self.key = key
    self.reference = reference
  }

  /// The state of a value that is ready and made now.
  @inlinable var currentEpoch: UInt { epoch.first.value.load(ordering: .acquiring) }

  /// Which property it is of.
  @inlinable var identity: PropertyIdentity { PropertyIdentity(address(of: self), at: place) }
}
