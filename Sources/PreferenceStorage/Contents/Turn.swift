import Synchronization

/// A lock with a time limit for waiting, which knows its owner, so that a write within a transaction can't deadlock.
final class Turn: Sendable {
  /// The owner's thread, or 0; exchanged acquiring and stored releasing, so that an owner sees earlier owners' work.
  private let owner = Atomic<UInt>(0)
  /// The path of the file, for error messages; nil for other stores.
  private let path: String?

  init(of path: String?) { self.path = path }

  /// The longest time that a thread waits for its turn, unless a store has another limit.
  static let defaultLimit = Duration.seconds(5)

  private func tryTake() -> Bool {
    owner.compareExchange(expected: 0, desired: currentThread, ordering: .acquiring).exchanged
  }

  /// Takes the turn, and waits for other threads no longer than the limit.
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
