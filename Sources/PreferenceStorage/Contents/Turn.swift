import Synchronization

/// A lock that is waited for with a limit, and knows its owner: a write within a transaction is an error and no deadlock.
final class Turn: Sendable {
  /// The owner's thread, or 0, exchanged acquiring and stored releasing: an owner sees what those before it have done.
  private let owner = Atomic<UInt>(0)
  /// The store's path, for messages.
  private let path: String?

  init(of path: String?) { self.path = path }

  /// For how long a turn is waited for, unless a store has another limit.
  static let defaultLimit = Duration.seconds(5)

  private func tryTake() -> Bool {
    owner.compareExchange(expected: 0, desired: currentThread, ordering: .acquiring).exchanged
  }

  /// Takes the turn, waiting for other threads no longer than that.
  ///
  /// - Throws: `.nestedTransaction` if the calling thread has it already; `.busy` if the limit is reached.
  func take(within limit: Duration) throws(PreferenceError) {
    if tryTake() { return }
    if owner.load(ordering: .relaxed) == currentThread {
      throw PreferenceError(
        .nestedTransaction,
        "a store was written to, reloaded or synchronized from within a transaction on it; use the transaction that the"
          + " closure is given", path: path)
    }
    var patience = Patience(limit)
    while !tryTake() {
      guard patience.wait() else {
        throw PreferenceError(
          .busy,
          "another thread has been in a transaction on it for more than \(limit), and the change was not made; make the"
            + " transaction shorter or set a longer lockWaitLimit", path: path)
      }
    }
  }

  func giveBack() { owner.store(0, ordering: .releasing) }
}
