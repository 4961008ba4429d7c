internal import Locking
internal import Synchronization

/// The one value that a registration keeps for everybody: a singleton, or a weak, cached or expiring value.
final class SharedValue<Value>: ResettableValue {
  /// `@unchecked Sendable`: it goes from thread to thread only through the mutex, and the public scopes that keep a
  /// value for several threads exist for `Sendable` values only.
  private enum Kept: @unchecked Sendable {
    case nothing
    case strongly(Value)
    case weakly(WeakReference)

    var value: Value? {
      switch self {
      case .nothing: nil
      case .strongly(let value): value
      case .weakly(let reference): reference.object.flatMap { $0 as? Value }
      }
    }
  }

  private struct State: Sendable {
    var kept = Kept.nothing
    var deadline: ContinuousClock.Instant?
    var generation = 0
    var isRetired = false
  }

  private let gate = CreationGate()
  private let state = Lock(State())
  private let isWeak: Bool
  private let expiry: Duration?
  private let cache: ScopeCache?

  /// Nil for a scope that keeps nothing.
  init?(for scope: Scope<Value>) {
    guard scope.lifetime.isShared else { return nil }
    expiry = scope.expiry
    if case .weak = scope.lifetime { isWeak = true } else { isWeak = false }
    if case .cached(let cache) = scope.lifetime { self.cache = cache } else { cache = nil }
    cache?.add(self)
  }

  deinit { cache?.remove(ObjectIdentifier(self)) }

  /// The value that is kept, if it is still alive and not too old.
  var current: Value? {
    state.withLock { state in
      if let deadline = state.deadline, deadline <= .now { return Kept.nothing }
      return state.kept
    }.value
  }

  /// The value that is kept, else the one that `make` makes: once, however many ask, and with no lock held.
  ///
  /// Where `make` throws, those who waited try for themselves.
  func value(
    as frame: UnsafeMutablePointer<CreationFrame>, make: () throws(InjectionError) -> Value
  ) throws(InjectionError) -> Value {
    while true {
      if let value = current { return value }
      if gate.enter(from: CreationGate.vacant, as: frame) {
        defer { gate.settle(frame, as: CreationGate.vacant) }
        // Another thread may have been here between the look and the entry.
        if let value = current { return value }
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
  func keep(_ value: Value, madeIn generation: Int) {
    let kept: Kept =
      isWeak
      ? .weakly(WeakReference(value, declaredBy: "Scope .weak of \(TypeName.of(Value.self))"))
      : .strongly(value)
    exchange { state in
      guard !state.isRetired, state.generation == generation else { return nil }
      state.deadline = expiry.map { .now + $0 }
      return kept
    }
  }

  func reset() {
    exchange { state in
      state.generation += 1
      return .nothing
    }
  }

  func retire() {
    exchange { state in
      state.isRetired = true
      return .nothing
    }
  }

  /// Exchanges what is kept, where `change` says for what; what was kept is released after the lock, since a
  /// deinitializer may do anything.
  private func exchange(_ change: (inout State) -> Kept?) {
    let dropped = state.withLock { state -> Kept in
      guard let kept = change(&state) else { return .nothing }
      defer { state.kept = kept }
      return state.kept
    }
    withExtendedLifetime(dropped) {}
  }
}
