internal import Locking
internal import Synchronization

/// The one value that a registration keeps for everybody: a singleton, or a weak, cached or expiring value.
///
/// Of which type it is, the registration knows. A value that neither goes nor expires by itself is published, so that
/// any number of threads copy it at once; the others are copied under the lock.
struct SharedValue: ~Copyable, Sendable {
  /// `@unchecked Sendable`: it goes from thread to thread only through the lock, and the public scopes that keep a
  /// value for several threads exist for `Sendable` values only.
  private enum Kept: @unchecked Sendable {
    case nothing
    /// An address that is published, too, unless the value expires.
    case strongly(UnsafeMutableRawPointer, free: @Sendable (UnsafeMutableRawPointer) -> Void)
    case weakly(WeakReference)
  }

  private struct State: Sendable {
    var kept = Kept.nothing
    /// When the value is too old, on the clock.
    var deadline: Duration?
    var generation = 0
    var isRetired = false
  }

  /// The value for those who need no lock, if there is one.
  let published = PublishedPointer()
  private let gate = CreationGate()
  private let state = Lock(State())
  let lifetime: ScopeLifetime
  /// At what age a value is too old.
  let expiry: Duration?
  /// What values grow old by; nil where they don't.
  private let clock: ElapsedClock?

  init(lifetime: ScopeLifetime, expiry: Duration?, clock: ElapsedClock) {
    self.lifetime = lifetime
    self.expiry = expiry
    self.clock = expiry == nil ? nil : clock
  }

  /// Nobody asks any more.
  deinit {
    if case .strongly(let address, let free) = state.withLock(\.kept) { free(address) }
  }

  /// The value that is kept, if it is still alive and not too old.
  func current<Value>(as type: Value.Type = Value.self) -> Value? { try? kept(as: type) }

  /// The value that is kept.
  ///
  /// Throwing says that there is none at less cost than an Optional would, as the runtime would have to look up that
  /// type.
  private func kept<Value>(as: Value.Type) throws(NoValue) -> Value {
    // The clock may be anybody's, so it is asked with no lock held.
    let now = clock?.now
    return try state.withLock { state throws(NoValue) in
      if let now, let deadline = state.deadline, deadline <= now { throw NoValue() }
      switch state.kept {
      case .nothing: throw NoValue()
      case .strongly(let address, _): return address.assumingMemoryBound(to: Value.self).pointee
      case .weakly(let reference):
        guard let value = reference.object as? Value else { throw NoValue() }
        return value
      }
    }
  }

  /// The value that is published, copied under no lock that another thread wants.
  private func published<Value>(on thread: UnsafeMutablePointer<CreationThread>) throws(NoValue) -> Value {
    try thread.pointee.reading.withLock { _ throws(NoValue) in
      guard let address = published.current else { throw NoValue() }
      return address.assumingMemoryBound(to: Value.self).pointee
    }
  }

  /// The value that is kept, else the one that `make` makes: once, however many ask, and with no lock held.
  ///
  /// Where `make` throws, those who waited try for themselves.
  func value<Value>(
    as frame: UnsafeMutablePointer<CreationFrame>, make: () throws(InjectionError) -> Value
  ) throws(InjectionError) -> Value {
    do throws(NoValue) { return try published(on: frame.pointee.thread) } catch {}
    while true {
      if let value = current(as: Value.self) { return value }
      if gate.enter(from: CreationGate.vacant, as: frame) {
        defer { gate.settle(frame, as: CreationGate.vacant) }
        // Another thread may have been here between the look and the entry.
        if let value = current(as: Value.self) { return value }
        let generation = generation
        let value = try make()
        keep(value, madeIn: generation)
        return value
      }
      let observed = gate.word.load(ordering: .acquiring)
      if CreationGate.isBusy(observed) { try gate.wait(while: observed, as: frame) }
    }
  }

  /// Counts resets; a value begun in one generation is not kept in the next.
  var generation: Int { state.withLock(\.generation) }

  /// Keeps a value, unless a reset has come since it was begun.
  func keep<Value>(_ value: Value, madeIn generation: Int) {
    let kept = keeping(value)
    let deadline = expiry.flatMap { age in clock.map { $0.now + age } }
    let isKept = exchange { state in
      guard !state.isRetired, state.generation == generation else { return nil }
      state.deadline = deadline
      return kept
    }
    if !isKept { free(kept) }
  }

  private func keeping<Value>(_ value: Value) -> Kept {
    if case .weak = lifetime {
      return .weakly(WeakReference(value, declaredBy: "Scope .weak of \(TypeName.of(Value.self))"))
    }
    let address = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    address.initialize(to: value)
    return .strongly(UnsafeMutableRawPointer(address)) {
      let address = $0.assumingMemoryBound(to: Value.self)
      address.deinitialize(count: 1)
      address.deallocate()
    }
  }

  /// Forgets the value, and one that is being made.
  func reset() {
    _ = exchange { state in
      state.generation += 1
      return .nothing
    }
  }

  /// Forgets the value for good.
  func retire() {
    _ = exchange { state in
      state.isRetired = true
      return .nothing
    }
  }

  /// Exchanges what is kept, where `change` says for what; says whether it did.
  ///
  /// What was kept is released after the lock, since a deinitializer may do anything, and after the last reader.
  private func exchange(_ change: (inout State) -> Kept?) -> Bool {
    let dropped = state.withLock { state -> Kept? in
      guard let kept = change(&state) else { return nil }
      defer { state.kept = kept }
      if case .strongly(let address, _) = kept, expiry == nil {
        published.publish(address)
      } else {
        published.publish(nil)
      }
      return state.kept
    }
    guard let dropped else { return false }
    free(dropped)
    return true
  }

  private func free(_ dropped: Kept) {
    guard case .strongly(let address, let free) = dropped else { return }
    CreationThread.awaitReaders()
    free(address)
  }
}
