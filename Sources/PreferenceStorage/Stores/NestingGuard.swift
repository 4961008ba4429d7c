import Synchronization

/// Knows which thread runs a transaction's body, so that a write from within it is an error and not a deadlock.
struct NestingGuard: ~Copyable, Sendable {
  private let thread = Atomic<UInt>(0)

  /// Throws where the calling thread is within a transaction.
  borrowing func check(_ path: String?) throws(PreferenceError) {
    let thread = thread.load(ordering: .relaxed)
    guard thread == 0 || thread != currentThread else {
      throw PreferenceError(
        .nestedTransaction,
        "a store was written to, reloaded or synchronized from within a transaction on it;"
          + " use the transaction that the closure is given", path: path)
    }
  }

  /// Runs the body of a transaction.
  ///
  /// The caller holds the lock that makes it the only one.
  borrowing func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    thread.store(currentThread, ordering: .relaxed)
    defer { thread.store(0, ordering: .relaxed) }
    return try body()
  }
}
