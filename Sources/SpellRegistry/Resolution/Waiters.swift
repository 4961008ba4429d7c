/// The threads that sleep until another thread has made a value, each with what it waits for and what it is making.
///
/// One monitor guards the table, for the whole process; it is taken only by a thread that finds a value being made by
/// another, and by the thread that then finishes that value. A gate in the state `awaited` changes under the monitor
/// alone, so every entry tells the truth for as long as the monitor is held, and a cycle found here is one.
///
/// Each thread waits for at most one gate, and each gate is being made by one thread, so looking for a cycle means to
/// follow a single path: at most one step for each waiting thread. Every thread looks each time before it begins to wait.
/// The thread that closes a cycle therefore finds it, whatever else waits.
enum Waiters {
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
    try monitor.withLock { waits throws(InjectionError) in
      guard let maker = maker() else { return }
      let making = thread.frames.map { (gates: [$0.gate, $0.propertyGate], type: $0.type) }
      let wait = Wait(gate: gate, maker: maker, type: type, making: making)
      if let path = path(of: wait, backTo: id, in: waits) {
        throw InjectionError(.cycle, through: path.map { InjectionStep($0) })
      }
      waits[id] = wait
      while waits[id] != nil { monitor.sleep(&waits) }
    }
  }

  /// Settles an awaited gate, and wakes the threads that wait at it.
  ///
  /// - Parameter settle: Returns whether it settled the gate.
  static func wake(at gate: GateID, settle: () -> Bool) {
    monitor.withLock { waits in
      guard settle() else { return }
      for (thread, wait) in waits where wait.gate == gate { waits[thread] = nil }
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
