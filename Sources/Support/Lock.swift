public import Synchronization

/// A mutex whose hand-over the thread sanitizer can see.
///
/// A contended `Mutex` is handed over by the kernel (a futex, on Linux), which the sanitizer does not watch, so it
/// reports races where there are none. The flag beside it is stored with releasing order by whoever leaves and loaded
/// with acquiring order by whoever enters: the order that the mutex gives anyway, said once more. It costs two moves.
@frozen @usableFromInline package struct Lock<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<State>
  @usableFromInline let handOver = Atomic(false)

  @inlinable package init(_ state: consuming sending State) { mutex = Mutex(state) }

  /// Runs `body` with the state, while nobody else does.
  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { state throws(Failure) in
      _ = handOver.load(ordering: .acquiring)
      defer { handOver.store(true, ordering: .releasing) }
      return try body(&state)
    }
  }
}
