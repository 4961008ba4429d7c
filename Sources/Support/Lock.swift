public import Synchronization

/// A mutex whose handoff from one thread to the next is visible to the thread sanitizer.
///
/// The kernel hands over a contended `Mutex` (on Linux, with a futex). The thread sanitizer doesn't see this handoff,
/// and therefore reports races that don't exist. To make the handoff visible, a thread stores the flag `handOver` with
/// releasing order before it unlocks the mutex, and loads the flag with acquiring order after it locks the mutex. This
/// memory ordering is the same as the mutex's own. The flag costs one load and one store.
@frozen @usableFromInline package struct Lock<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<State>
  @usableFromInline let handOver = Atomic(false)

  @inlinable package init(_ state: consuming sending State) { mutex = Mutex(state) }

  /// Calls `body` with exclusive access to the state, and returns the result of `body`.
  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { state throws(Failure) in
      _ = handOver.load(ordering: .acquiring)
      defer { handOver.store(true, ordering: .releasing) }
      return try body(&state)
    }
  }

  /// Calls `body` with exclusive access to the state, and returns the result of `body`.
  ///
  /// Returns nil, without calling `body`, if another thread has access to the state at the moment.
  @inlinable package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    try mutex.withLockIfAvailable { state throws(Failure) in
      _ = handOver.load(ordering: .acquiring)
      defer { handOver.store(true, ordering: .releasing) }
      return try body(&state)
    }
  }
}

extension Lock where State: Sendable {
  /// Changes the state, and releases the former state after the unlock, because a deinitializer may use the lock.
  @inlinable package func change(_ body: (inout State) -> Void) {
    let former = withLock { state in
      let former = state
      body(&state)
      return former
    }
    withExtendedLifetime(former) {}
  }
}
