public import Synchronization

// The most common first read: the property has an expression of its own, and nobody else has a say in its value or wants
// to hear of it. What depends on the type is compiled where the type is known, and the rest once.

extension PropertyStorage {
  /// Makes the value by the property's own expression, where nobody else has a say in it: nothing is there yet, no
  /// registration is limited to a class of containers, and neither a hook nor the container wants to hear of it.
  ///
  /// It is ``makeValue(in:followsReinjection:fallback:)`` in less time, for a wrapper's first read; call that where the
  /// answer is false.
  ///
  /// - Parameter container: The object that holds the property, if one does.
  /// - Returns: Whether the value was made, so that the slot is ready.
  @inlinable public func makeAlone(in container: AnyObject?) -> Bool {
    let record = slot.record
    guard let expression = record.pointee.declaration.expression, record.pointee.declaration.options == nil else {
      return false
    }
    return record.pointee.gate.pass(
      with: record.pointee.current, type: Value.self, property: record, in: container,
      under: record.pointee.declaration.override
    ) {
      // A value that was reset while it may have been read is still in the place.
      if record.pointee.hasValueInPlace { return false }
      slot.place.initialize(to: expression())
      record.pointee.hasValueInPlace = true
      return true
    }
  }
}

extension CreationGate {
  /// Enters the gate if the value is vacant and nobody else has a say in it, runs `make`, and leaves the gate.
  ///
  /// - Parameters:
  ///   - current: The word of the latest generation.
  ///   - type: The value's type.
  ///   - property: The address of the property's storage.
  ///   - container: The object that holds the property, if one does.
  ///   - override: The registry that took the place of the shared one for the property.
  ///   - make: Puts the value into its place; says whether it did.
  /// - Returns: Whether the value was made.
  @usableFromInline func pass(
    with current: UnsafePointer<Atomic<UInt>>, type: any Any.Type, property: UnsafeRawPointer,
    in container: AnyObject?, under override: InitializerRegistry?, make: () -> Bool
  ) -> Bool {
    // Apart, since one of the two as a value would be retained.
    let isConcerned =
      if let override { override.isConcerned(with: container) } else {
        InitializerRegistry.shared.isConcerned(with: container)
      }
    if isConcerned { return false }
    let asked = CreationFrame.Asked(container: container.map { ObjectIdentifier($0) }, property: property, name: nil)
    let isMade = try? CreationFrame.push(type, asked: asked) { frame throws(InjectionError) in
      try frame.beginExpression()
      guard enter(from: Self.vacant, as: frame) else { return false }
      // Taken before the value is made: a re-injection in between makes it outdated, never the reverse.
      let generation = current.pointee.load(ordering: .acquiring) & ~Self.tags
      let isMade = make()
      settle(frame, as: isMade ? generation | Self.ready : Self.vacant)
      return isMade
    }
    return isMade ?? false
  }
}

extension InitializerRegistry {
  /// Whether a registration may come before the expression of a property of this container, or somebody wants to hear of
  /// its value.
  fileprivate func isConcerned(with container: AnyObject?) -> Bool {
    if hasLimits || hooks.areUsed { return true }
    return container.map { Observers.include(type(of: $0)) } ?? false
  }
}
