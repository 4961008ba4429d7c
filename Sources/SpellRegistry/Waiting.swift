internal import Support
public import Synchronization

/// The creation state of one value.
///
/// | state | low bits | the rest |
/// |---|---|---|
/// | vacant | 0 | 0 |
/// | busy | 1 | the thread that makes the value |
/// | ready | 2 | the epoch in which the value was made |
/// | awaited | 3 | as busy, and at least one thread sleeps in ``Waits`` until it is over |
/// | replaced | 4 | 0; the property has another cell |
///
/// The thread that exchanges a settled state for busy is the only one that makes the value. It makes it with no lock held,
/// writes it, and settles the state with releasing order; a reader that loads `ready` with acquiring order sees the value
/// whole.
@frozen @usableFromInline struct CreationGate: ~Copyable, Sendable {
  @usableFromInline let state: Atomic<UInt>

  @inlinable static var vacant: UInt { 0 }
  static var busy: UInt { 1 }
  @inlinable static var ready: UInt { 2 }
  static var awaited: UInt { 3 }
  static var replaced: UInt { 4 }
  @inlinable static var tags: UInt { 7 }
  /// The factor of an epoch and of a thread's number, which leaves room for the tags.
  static var unit: UInt { 8 }

  @inlinable init() { state = Atomic(Self.vacant) }

  @inlinable var isReady: Bool { state.load(ordering: .acquiring) & Self.tags == Self.ready }
  var current: UInt { state.load(ordering: .acquiring) }
  static func isBusy(_ state: UInt) -> Bool { state & tags == busy || state & tags == awaited }

  /// Lets the calling thread make the value; returns false if the state has changed.
  func begin(from settled: UInt, on thread: UInt) -> Bool {
    state.compareExchange(expected: settled, desired: thread | Self.busy, ordering: .acquiringAndReleasing).exchanged
  }

  /// Settles a state and wakes the threads that wait for it; leaves one that was replaced meanwhile.
  func settle(as settled: UInt) {
    var found = current
    while found != Self.replaced {
      let (exchanged, other) = state.compareExchange(
        expected: found, desired: settled, ordering: .acquiringAndReleasing)
      if exchanged {
        if found & Self.tags == Self.awaited { Waits.wake(at: id) }
        return
      }
      found = other
    }
  }

  /// The gate's address, which is compared and never followed.
  var id: UInt { address(of: self) }
}

/// The threads that sleep until another thread has made a value.
///
/// Each thread waits for at most one gate, and one thread makes the value of a gate, so a look for a cycle follows a single
/// path. Every thread looks before it sleeps, under one lock, so the thread that closes a cycle finds it.
enum Waits {
  private struct Wait {
    let gate: UInt
    /// The thread that makes the value at the gate.
    let maker: UInt
    let step: FrameSummary
    /// The frames of the waiting thread, the outermost first.
    let making: [FrameSummary]
    let signal: ThreadSignal
  }

  private static let waits = Lock<[UInt: Wait]>([:])

  /// Sleeps until the gate is settled, if a thread makes its value; may also return early.
  ///
  /// - Throws: `.cycle`, with the steps around it, if the maker waits, directly or through others, for this thread.
  static func wait(
    at gate: borrowing CreationGate, for step: FrameSummary, on thread: CurrentThread
  ) throws(InjectionError) {
    let (making, signal, id) = (thread.making, ThreadSignal(), gate.id)
    var cycle: [FrameSummary]?
    let mustSleep = waits.withLock { waits in
      let found = gate.current
      guard CreationGate.isBusy(found) else { return false }
      let wait = Wait(gate: id, maker: found & ~CreationGate.tags, step: step, making: making, signal: signal)
      cycle = path(of: wait, backTo: thread.id, in: waits)
      // A gate is marked under this lock only, and the maker takes it to wake those who marked it.
      let isMarked =
        cycle == nil
        && gate.state.compareExchange(
          expected: found, desired: wait.maker | CreationGate.awaited, ordering: .acquiringAndReleasing
        ).exchanged
      if isMarked { waits[thread.id] = wait }
      return isMarked
    }
    if let cycle { throw InjectionError(.cycle, through: cycle.map(\.step)) }
    if mustSleep { signal.wait() }
  }

  static func wake(at gate: UInt) {
    // Released with no lock held.
    let woken = waits.withLock { waits in
      let woken = waits.filter { $0.value.gate == gate }
      for thread in woken.keys { waits[thread] = nil }
      return woken
    }
    for wait in woken.values { wait.signal.wake() }
  }

  /// The steps from the awaited one to the first that the waiting thread makes itself; nil if the path ends at a
  /// thread that runs.
  private static func path(
    of wait: Wait, backTo thread: UInt, in waits: [UInt: Wait]
  ) -> [FrameSummary]? {
    var (steps, wait) = ([FrameSummary](), wait)
    for _ in 0...waits.count {
      if wait.maker == thread { return steps + [wait.step] }
      guard let next = waits[wait.maker] else { return nil }
      let start = next.making.lastIndex { $0.gates.contains(wait.gate) }
      steps += start.map { next.making[$0...] } ?? [wait.step]
      wait = next
    }
    return nil
  }
}
