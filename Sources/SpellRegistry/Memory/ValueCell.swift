internal import Support

/// Heap memory for one value, with a `CreationGate` that says whether the value exists.
///
/// `@unchecked Sendable`: the atomic `gate` guards the value. One thread or task writes the value before it marks the
/// gate as ready, and other threads read the value only after they find the gate ready. The scopes that share values
/// require `Sendable` values. The exception is `.unsafeGraph`, with which the client has to prevent races.
final class ValueCell: @unchecked Sendable {
  let type: any Any.Type
  let memory: ValueMemory
  let gate = CreationGate()
  /// The async run that makes the value, and has failed if it is over; nil if there is none, or if it has made the value.
  private let run = Lock<SharedRun?>(nil)

  init(_ type: any Any.Type) {
    (self.type, memory) = (type, .allocate(for: type))
  }

  /// Creates a cell with the value that `put` puts in its memory.
  convenience init<Failure>(
    _ type: any Any.Type, filledBy put: (ValueMemory) throws(Failure) -> Void
  ) throws(Failure) {
    self.init(type)
    try put(memory)
    gate.settle(as: CreationGate.ready)
  }

  deinit {
    if gate.isReady { memory.destroy(type) }
    memory.deallocate()
  }

  /// Returns the value, which must exist.
  func value<Value>() -> Value { withExtendedLifetime(self) { memory.value() } }

  /// Copies the value, which must exist, to other memory.
  func copyValue(to memory: ValueMemory) { memory.copy(type, from: self.memory) }

  /// Returns the async run that makes the value, or else the new run from `create`; nil if the value exists.
  func sharedRun(orCreate create: () -> SharedRun) -> SharedRun? {
    run.withLock { run in
      if gate.isReady { return nil }
      let current = run ?? create()
      run = current
      return current
    }
  }

  /// Releases the async run that has made the value.
  ///
  /// The run refers to its registry, which may keep the cell.
  func releaseRun() {
    let released = run.withLock { $0.take() }
    withExtendedLifetime(released) {}
  }
}

extension ValueCell {
  /// Puts the cell's value in memory, after making it by a call of `make` if there is none.
  ///
  /// However many threads call this function at once, one of them makes the value.
  ///
  /// - Parameters:
  ///   - step: Returns the request for the value, which is a step of the error's path.
  ///   - make: Puts a new value in memory. It gets the address of the cell's `CreationGate`.
  ///   - store: Called with a new value in the cell, before other threads get it.
  func copyOrMakeValue(
    in memory: ValueMemory, for step: () -> InjectionStep, on thread: CurrentThread,
    make: (UInt?) throws(InjectionError) -> Void, store: () -> Void = {}
  ) throws(InjectionError) {
    guard try gate.begin(on: thread, for: step, unless: { $0 == CreationGate.ready }) != nil else {
      return copyValue(to: memory)
    }
    do throws(InjectionError) { try make(gate.id) } catch {
      gate.settle(as: CreationGate.vacant)
      throw error
    }
    self.memory.copy(type, from: memory)
    store()
    gate.settle(as: CreationGate.ready)
  }

  /// Returns a cell with the value wrapped in one or more Optionals, or this cell if `type` isn't an Optional type.
  ///
  /// - Precondition: If `type` is an Optional type, it wraps the cell's type in one or more Optionals.
  func wrapped(as type: any Any.Type) -> ValueCell {
    guard let optional = type as? any OptionalValue.Type else { return self }
    let inner = optional.wrappedType == self.type ? self : wrapped(as: optional.wrappedType)
    return ValueCell(type) { optional.putSome(inner.memory, in: $0) }
  }
}
