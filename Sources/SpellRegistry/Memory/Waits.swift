internal import Support
internal import Synchronization

/// The threads that sleep until another thread has made a value.
///
/// Each thread waits for at most one gate, and one thread makes the value of a gate, so a look for a cycle follows a single
/// path. Every thread looks before it sleeps, under one lock, so the thread that closes a cycle finds it.
enum Waits {
  private struct Wait {
    let gate: UInt
    let maker: UInt
    let step: FrameSummary
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
