internal import Support
internal import Synchronization

// A property's first value is in the memory of its cell, and stays there for as long as the cell, because other threads
// may be reading the value without a lock. A later value is in a `ValueCell`, which threads use only under the lock `later`.

extension PropertyCell {
  /// Whether the property has a value, even if a thread is making another one.
  var hasValue: Bool { withValue { _ in } != nil }

  /// Copies the property's value to `memory` if there is one, even if a thread is making another one.
  ///
  /// - Returns: Whether there is a value.
  func copyValue(to memory: ValueMemory) -> Bool { withValue { memory.copy(fields.type, from: $0) } != nil }

  /// Returns the result of `body`, which gets the memory of the property's value; nil if there is no value.
  ///
  /// A lock may be held during the call, so that no thread releases the value.
  func withValue<Result>(_ body: (ValueMemory) -> Result) -> Result? {
    if memory.isReady { return body(memory.value) }
    var result: Result?
    fields.later.withLock { later in
      switch later {
      case .value(let cell): result = body(cell.memory)
      case .unused: if fields.hasFirstValue.load(ordering: .acquiring) { result = body(memory.value) }
      case .nothing: break
      }
    }
    return result
  }

  /// Waits until no thread makes the property's value, and then begins to make it, unless `isDone` returns true.
  ///
  /// - Returns: The state of the gate in which the calling thread begins; nil if `isDone` returned true.
  /// - Throws: `.cycle` if the calling thread is making the value, or if the thread that makes it waits for the calling
  ///   thread.
  @inline(__always) func beginValue(
    in container: AnyObject? = nil, on thread: CurrentThread = .current, unless isDone: (UInt) -> Bool
  ) throws(InjectionError) -> UInt? {
    try memory.head.gate.begin(on: thread, for: { point(in: container).step() }, unless: isDone)
  }

  /// Waits for the thread, if any, that is making the property's value.
  ///
  /// - Throws: `.cycle` if the calling thread is making the value, or if the thread that makes it waits for the calling
  ///   thread.
  package func waitForValue() throws(InjectionError) { _ = try beginValue { _ in true } }

  /// Marks the value in the memory of the cell, which no other thread uses yet, as the property's value.
  @usableFromInline func settle() { store(nil, inEpoch: memory.epoch, on: nil) }

  /// Stores the value that `put` puts in memory, unless the property already has a value and `replacing` is false.
  ///
  /// - Returns: Whether the value was stored.
  func store(replacing: Bool, inEpoch epoch: UInt, _ put: (ValueMemory) -> Void) throws(InjectionError) -> Bool {
    let thread = CurrentThread.current
    guard let former = try beginValue(on: thread, unless: { !replacing && CreationGate.hasValue($0) }) else {
      return false
    }
    let later = laterCell(from: former)
    put(later?.memory ?? memory.value)
    store(later, inEpoch: epoch, on: thread)
    return true
  }

  /// Drops the property's value, even while other threads read the property.
  ///
  /// The property's first value stays in memory for as long as the cell. A thread that is making a value doesn't store it.
  package func forget() {
    if memory.head.gate.current != CreationGate.vacant { replace(with: .nothing, CreationGate.dropped, on: nil) }
  }

  // MARK: The end of a value's creation

  /// Returns memory for a new value, or nil if it belongs in the cell's own memory, which no value has used yet.
  func laterCell(from state: UInt) -> ValueCell? { state == CreationGate.vacant ? nil : ValueCell(fields.type) }

  /// Makes the value in `later`, or in the cell's own memory if `later` is nil, the property's value.
  ///
  /// If the property's value was dropped after `thread` had begun to make the new value, it isn't stored. The same
  /// applies to ``storeNothing(from:on:)``.
  ///
  /// - Parameter thread: The thread that makes the value; nil if no other thread uses the cell yet.
  func store(_ later: ValueCell?, inEpoch epoch: UInt, on thread: CurrentThread?) {
    guard let later else {
      fields.hasFirstValue.store(true, ordering: .releasing)
      return memory.head.gate.settle(as: epoch, by: thread?.id)
    }
    later.gate.settle(as: CreationGate.ready)
    replace(with: .value(later), CreationGate.state(CreationGate.later, in: epoch), on: thread)
  }

  /// Ends the creation of a value that `thread` began in `state` without a value.
  func storeNothing(from state: UInt, on thread: CurrentThread) {
    if state == CreationGate.vacant { return memory.head.gate.settle(as: state, by: thread.id) }
    replace(with: .nothing, CreationGate.dropped, on: thread)
  }

  private func replace(with new: consuming PropertyFields.Later, _ state: UInt, on thread: CurrentThread?) {
    var former = new
    let found = fields.later.withLock { later in
      let found = memory.head.gate.change(to: state, by: thread?.id)
      if found != nil { swap(&later, &former) }
      return found
    }
    // Threads are woken, and a value is released, with no lock held, because a deinitializer may run any code.
    memory.head.gate.wakeThreads(waitingIn: found)
    withExtendedLifetime(former) {}
  }
}
