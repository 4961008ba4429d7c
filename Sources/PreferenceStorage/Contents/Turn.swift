import Support
import Synchronization

/// Whose turn it is to write to a store: a lock that knows its owner and is waited for with a limit.
///
/// As it knows its owner, a write from within a transaction on the same store is an error instead of a deadlock, and so
/// are transactions on two stores in opposite order.
final class Turn: Sendable {
  /// The owner's thread; 0 while there is none.
  ///
  /// Taken acquiring, given back releasing: an owner sees what those before it have done.
  private let owner = Atomic<UInt>(0)
  /// The thread that has waited so long that no other one takes the turn before it; 0 while there is none.
  private let claimant = Atomic<UInt>(0)
  /// The count of forks when the owner took it: a child has none of its parent's other threads.
  private let forkCount = Atomic<Int>(0)
  /// The store's path, for messages.
  private let path: String?

  init(of path: String?) { self.path = path }

  /// For how long a turn is waited for, unless a store has another limit.
  static let defaultLimit = Duration.seconds(5)

  /// Which turn each waiting thread waits for.
  private static let waiting = PerProcess<WaitingThreads>()

  /// Whether the calling thread has the turn.
  var isMine: Bool { owner.load(ordering: .relaxed) == currentThread }

  /// Takes the turn if no other thread has it.
  func tryTake() -> Bool {
    let me = currentThread
    if isClaimedByOther(than: me) { return false }
    let (isTaken, found) = owner.compareExchange(expected: 0, desired: me, ordering: .acquiring)
    if isTaken {
      forkCount.store(Fork.count, ordering: .relaxed)
      return true
    }
    guard found != me, forkCount.load(ordering: .relaxed) != Fork.count,
      owner.compareExchange(expected: found, desired: me, ordering: .acquiring).exchanged
    else { return false }
    forkCount.store(Fork.count, ordering: .relaxed)
    return true
  }

  /// Whether another thread has claimed the next turn.
  ///
  /// A child process ignores its parent's claims.
  private func isClaimedByOther(than me: UInt) -> Bool {
    let found = claimant.load(ordering: .relaxed)
    if found == 0 || found == me { return false }
    if forkCount.load(ordering: .relaxed) == Fork.count { return true }
    claimant.store(0, ordering: .relaxed)
    return false
  }

  /// Takes the turn, waiting for other threads no longer than that.
  ///
  /// A thread that writes without a pause would take the turn again before one that sleeps wakes up, so a thread that
  /// has waited for some milliseconds claims the next turn.
  ///
  /// - Throws: `.nestedTransaction` if the calling thread has it already; `.busy` if the limit is reached, and if
  ///   its owner waits for a turn that the calling thread has.
  func take(within limit: Duration) throws(PreferenceError) {
    if tryTake() { return }
    if isMine { throw nested() }
    let me = currentThread
    let threads = Turn.waiting.object { WaitingThreads() }
    if let other = threads.wait(of: me, for: self) { throw crossed(with: other) }
    var isNext = false
    defer {
      if isNext { claimant.store(0, ordering: .relaxed) }
      threads.end(me)
    }
    var patience = Patience(limit)
    while !tryTake() {
      guard patience.wait(isNext: isNext) else { throw busy(limit) }
      if patience.isLong, !isNext {
        isNext = claimant.compareExchange(expected: 0, desired: me, ordering: .relaxed).exchanged
      }
    }
  }

  func giveBack() { owner.store(0, ordering: .releasing) }

  /// A write from within a transaction, whose store may have another name.
  func nested(as other: String? = nil) -> PreferenceError {
    PreferenceError(
      .nestedTransaction,
      "a store was written to, reloaded or synchronized from within a transaction on it"
        + (other == path ? "" : other.map { ", which has the name \($0) too" } ?? "")
        + "; use the transaction that the closure is given", path: path)
  }

  private func crossed(with other: Turn) -> PreferenceError {
    PreferenceError(
      .busy,
      "a transaction on \(other.name) changes this store while a transaction on this store changes \(other.name), and"
        + " each would wait for the other; change the two stores in the same order everywhere", path: path)
  }

  private func busy(_ limit: Duration) -> PreferenceError {
    PreferenceError(
      .busy,
      "another thread has been in a transaction on it for more than \(limit), and the change was not made; make the"
        + " transaction shorter or set a longer lockWaitLimit", path: path)
  }

  private var name: String { path ?? "another store" }

  /// Who waits for what.
  private final class WaitingThreads: Sendable {
    private let turns = Lock<[UInt: Turn]>([:])

    /// Notes that the thread waits; if that closes a cycle, it returns a turn in it that the thread has, and notes nothing.
    func wait(of thread: UInt, for turn: Turn) -> Turn? {
      turns.withLock { turns in
        var last = turn
        for _ in 0...turns.count {
          let owner = last.owner.load(ordering: .relaxed)
          if owner == thread { return last }
          guard let next = turns[owner] else { break }
          last = next
        }
        turns[thread] = turn
        return nil
      }
    }

    func end(_ thread: UInt) { turns.withLock { $0[thread] = nil } }
  }
}
