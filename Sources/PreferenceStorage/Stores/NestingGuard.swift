import Synchronization

/// Knows which thread runs a transaction's body, so that a write from within it is an error and not a deadlock.
struct NestingGuard: ~Copyable, Sendable {
  private let thread = Atomic<UInt>(0)

  /// Whether the calling thread is within a transaction's body.
  var isCalledFromWithin: Bool {
    let thread = thread.load(ordering: .relaxed)
    return thread != 0 && thread == currentThread
  }

  /// Throws where the calling thread is within a transaction's body.
  borrowing func check(_ path: String?) throws(PreferenceError) {
    guard !isCalledFromWithin else {
      throw PreferenceError(
        .nestedTransaction,
        "a store was written to, reloaded or synchronized from within a transaction on it;"
          + " use the transaction that the closure is given", path: path)
    }
  }

  /// Runs the body of a transaction.
  ///
  /// The caller holds the lock that makes it the only one.
  borrowing func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    thread.store(currentThread, ordering: .relaxed)
    defer { thread.store(0, ordering: .relaxed) }
    return try body()
  }
}
