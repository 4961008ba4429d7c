internal import Support
internal import Synchronization

/// The threads that sleep until another thread has made a value.
///
/// Each thread waits for at most one `CreationGate`, and one thread makes the gate's value. A search for a cycle of
/// waiting threads therefore follows a single path. Every thread searches before it sleeps, under one lock, so the
/// thread whose wait would complete a cycle detects the cycle.
enum Waits {
  private struct Wait {
    let gate: UInt
    let maker: UInt
    let step: InjectionStep
    /// The values that the waiting thread is making, the outermost first, each with the gates of its request's value.
    let making: [(gates: [UInt], step: InjectionStep)]
    let signal: ThreadSignal
  }

  private static let waits = Lock<[UInt: Wait]>([:])

  /// Sleeps while another thread makes the gate's value, but may return before the value exists.
  ///
  /// - Parameter step: The request for the value, which is a step of the error's path.
  /// - Throws: `.cycle`, with the cycle's steps, if the calling thread itself is making the value, or if the thread
  ///   that makes the value waits for the calling thread, directly or through other threads.
  static func wait(
    at gate: borrowing CreationGate, for step: InjectionStep, on thread: CurrentThread
  ) throws(InjectionError) {
    let making = thread.fields.frames.compactMap { frame in
      frame.step.map { (gates: [frame.gate, frame.request.gate].compactMap(\.self), step: $0) }
    }
    let (signal, id) = (ThreadSignal(), gate.id)
    var cycle: [InjectionStep]?
    let mustSleep = waits.withLock { waits in
      let found = gate.current
      guard CreationGate.isBusy(found) else { return false }
      let wait = Wait(gate: id, maker: found & ~CreationGate.tags, step: step, making: making, signal: signal)
      cycle = path(of: wait, backTo: thread.id, in: waits)
      // A waiting thread marks the gate as awaited only under this lock. The thread that makes the value takes the same
      // lock to wake the waiting threads, so it misses none of them.
      let isMarked =
        cycle == nil
        && gate.state.compareExchange(
          expected: found, desired: wait.maker | CreationGate.awaited, ordering: .acquiringAndReleasing
        ).exchanged
      if isMarked { waits[thread.id] = wait }
      return isMarked
    }
    if let cycle { throw InjectionError(.cycle, through: cycle) }
    if mustSleep { signal.wait() }
  }

  static func wake(at gate: UInt) {
    // The removed waits are released outside the lock, because their release may run other code.
    let woken = waits.withLock { waits in
      let woken = waits.filter { $0.value.gate == gate }
      for thread in woken.keys { waits[thread] = nil }
      return woken
    }
    for wait in woken.values { wait.signal.wake() }
  }

  /// Returns the steps of the cycle that the new `wait` would complete.
  ///
  /// The search goes from each wait to the thread that makes the awaited value. If it reaches a thread that doesn't
  /// wait, there is no cycle, and the result is nil.
  private static func path(of wait: Wait, backTo thread: UInt, in waits: [UInt: Wait]) -> [InjectionStep]? {
    var (steps, wait) = ([InjectionStep](), wait)
    for _ in 0...waits.count {
      if wait.maker == thread { return steps + [wait.step] }
      guard let next = waits[wait.maker] else { return nil }
      let start = next.making.lastIndex { $0.gates.contains(wait.gate) }
      steps += start.map { next.making[$0...].map(\.step) } ?? [wait.step]
      wait = next
    }
    return nil
  }
}
