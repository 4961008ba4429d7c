public import Synchronization

/// How far one value is: vacant, being made by one thread, ready, or replaced by another gate's value.
///
/// | state | low bits | the rest |
/// |---|---|---|
/// | vacant | 0 | 0 |
/// | busy | 1 | the thread that makes the value |
/// | ready | 2 | the re-injection epoch in which the value was made |
/// | awaited | 3 | as busy, and at least one thread sleeps in ``Waiters`` until it is over |
/// | replaced | 4 | 0; readers follow the property's link to the newer value |
///
/// A thread that exchanges a settled state for busy is the only one that makes the value. It makes it with no lock held,
/// writes it, and then settles the state with releasing order; a reader that loads `ready` with acquiring order sees
/// the value whole. Threads are distinguished by a number that is never used again.
@frozen @usableFromInline struct CreationGate: ~Copyable, Sendable {
  @usableFromInline let state: Atomic<UInt>

  @inlinable static var vacant: UInt { 0 }
  static var busy: UInt { 1 }
  @inlinable static var ready: UInt { 2 }
  /// Ready, in an epoch that is never the current one.
  static var readyElsewhere: UInt { ~tags | ready }
  static var awaited: UInt { 3 }
  static var replaced: UInt { 4 }
  @inlinable static var tags: UInt { 7 }
  /// What an epoch and a thread's number are multiplied by, to leave room for the tags.
  static var unit: UInt { 8 }

  @inlinable init() { state = Atomic(Self.vacant) }

  /// Whether the value can be read.
  @inlinable var isReady: Bool { state.load(ordering: .acquiring) & Self.tags == Self.ready }

  var current: UInt { state.load(ordering: .acquiring) }

  /// Whether a thread is making the value in this state.
  static func isBusy(_ state: UInt) -> Bool { state & tags == busy || state & tags == awaited }

  /// Makes the calling thread the one that makes the value; returns false if the state has changed.
  func begin(from settled: UInt, on thread: ThreadState.ID) -> Bool {
    state.compareExchange(
      expected: settled, desired: thread | Self.busy, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Ends what `begin` began, and wakes the threads that wait for it.
  ///
  /// Does nothing to a gate that was replaced in the meantime.
  func settle(as settled: UInt, on thread: ThreadState.ID) {
    let busy = thread | Self.busy
    if state.compareExchange(expected: busy, desired: settled, ordering: .releasing).exchanged { return }
    Waiters.wake(at: identity) {
      state.compareExchange(expected: thread | Self.awaited, desired: settled, ordering: .releasing).exchanged
    }
  }

  /// Marks the value as replaced, and wakes the threads that wait for it.
  func replace() {
    var expected = current
    while expected & Self.tags != Self.awaited {
      let (exchanged, found) = state.compareExchange(
        expected: expected, desired: Self.replaced, ordering: .acquiringAndReleasing)
      if exchanged { return }
      expected = found
    }
    // An awaited state changes under the monitor only.
    Waiters.wake(at: identity) {
      state.store(Self.replaced, ordering: .releasing)
      return true
    }
  }

  /// Waits until the thread that makes the value is done, if one does.
  ///
  /// - Parameter type: The type of the value, for the error.
  /// - Throws: `.cycle`, with the types around it, if the wait would never end.
  func wait(for type: any Any.Type, on thread: CurrentThread) throws(InjectionError) {
    try Waiters.wait(for: type, at: identity, on: thread) {
      let found = current
      if found & Self.tags == Self.busy {
        let (exchanged, _) = state.compareExchange(
          expected: found, desired: found | Self.awaited, ordering: .acquiringAndReleasing)
        // The state is settled by now if the exchange failed; the caller looks again.
        return exchanged ? found & ~Self.tags : nil
      }
      return found & Self.tags == Self.awaited ? found & ~Self.tags : nil
    }
  }

  /// The gate's address, by which the threads that wait at it name it.
  var identity: GateID { address(of: self) }
}

/// Which gate: its address, compared and never followed.
typealias GateID = UInt

/// The threads that sleep until another thread has made a value, each with what it waits for and what it is making.
///
/// One monitor guards the table, for the whole process; it is taken only by a thread that finds a value being made by
/// another, and by the thread that then finishes that value. A gate in the state `awaited` changes under the monitor
/// alone, so every entry tells the truth for as long as the monitor is held, and a cycle found here is one.
///
/// Each thread waits for at most one gate, and each gate is being made by one thread, so looking for a cycle means to
/// follow a single path: at most one step for each waiting thread. Every thread looks each time before it begins to wait.
/// The thread that closes a cycle therefore finds it, whatever else waits.
private enum Waiters {
  private struct Wait: Sendable {
    let gate: GateID
    /// The thread that makes the value at the gate.
    let maker: ThreadState.ID
    let type: any Any.Type
    /// What the waiting thread is making, the outermost first.
    let making: [(gates: [GateID?], type: any Any.Type)]
  }

  private static let monitor = Monitor<[ThreadState.ID: Wait]>([:])

  /// Sleeps until the gate is settled.
  ///
  /// - Parameter maker: Marks the gate as awaited and returns the thread that makes its value; nil if none does.
  /// - Throws: `.cycle` if that thread waits, directly or through others, for a value that this thread is making.
  static func wait(
    for type: any Any.Type, at gate: GateID, on thread: CurrentThread, maker: () -> ThreadState.ID?
  ) throws(InjectionError) {
    let id = thread.id
    try monitor.withLock { () throws(InjectionError) in
      guard let maker = maker() else { return }
      let making = thread.frames.map { (gates: $0.gates, type: $0.type) }
      let wait = Wait(gate: gate, maker: maker, type: type, making: making)
      if let path = path(of: wait, backTo: id, in: monitor.state) {
        throw InjectionError(.cycle, through: path.map { InjectionStep(Service($0)) })
      }
      monitor.state[id] = wait
      while monitor.state[id] != nil { monitor.sleep() }
    }
  }

  /// Settles an awaited gate, and wakes the threads that wait at it.
  ///
  /// - Parameter settle: Returns whether it settled the gate.
  static func wake(at gate: GateID, settle: () -> Bool) {
    monitor.withLock {
      guard settle() else { return }
      for (thread, wait) in monitor.state where wait.gate == gate { monitor.state[thread] = nil }
      monitor.wakeAll()
    }
  }

  /// The types on the way from what is waited for to what the waiting thread itself makes; nil if the way ends at a
  /// thread that is running.
  private static func path(
    of wait: Wait, backTo thread: ThreadState.ID, in waits: [ThreadState.ID: Wait]
  ) -> [any Any.Type]? {
    var types: [any Any.Type] = []
    var (gate, maker, type) = (wait.gate, wait.maker, wait.type)
    // One step more than there are threads would be a ring of others, which each of them refuses to close.
    for _ in 0...waits.count {
      if maker == thread { return types + [type] }
      guard let next = waits[maker] else { return nil }
      let start = next.making.lastIndex { $0.gates.contains(gate) }
      types += start.map { next.making[$0...].map(\.type) } ?? [type]
      (gate, maker, type) = (next.gate, next.maker, next.type)
    }
    return nil
  }
}
