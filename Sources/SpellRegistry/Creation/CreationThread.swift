internal import Locking

/// What one thread is making, what it waits for, and whether it reads what another may free.
struct CreationThread: ~Copyable {
  /// Only the thread itself writes this; others read it under the creation monitor while the thread waits.
  var innermost: UnsafeMutablePointer<CreationFrame>?
  /// The gate that the thread waits at; guarded by the creation monitor.
  var awaited: UnsafePointer<CreationGate>?
  /// Whose hooks run on this thread, the outermost first; only the thread itself uses it.
  var runningHooks: [UnsafePointer<Hooks>] = []
  /// Held by the thread while it reads through a ``PublishedPointer``.
  let reading = Lock(())

  private static let storage = ThreadLocalPointer { record in
    CreationThread.end(record.assumingMemoryBound(to: CreationThread.self))
  }

  /// This thread's record, made when it is first asked for and freed when the thread ends.
  static var current: UnsafeMutablePointer<CreationThread> {
    if let record = storage.pointer { return record.assumingMemoryBound(to: CreationThread.self) }
    return begin()
  }

  @inline(never) private static func begin() -> UnsafeMutablePointer<CreationThread> {
    let record = UnsafeMutablePointer<CreationThread>.allocate(capacity: 1)
    record.initialize(to: CreationThread())
    storage.pointer = UnsafeMutableRawPointer(record)
    all.withLock { _ = $0.insert(Address(record: record)) }
    return record
  }

  private static func end(_ record: UnsafeMutablePointer<CreationThread>) {
    all.withLock { _ = $0.remove(Address(record: record)) }
    record.deinitialize(count: 1)
    record.deallocate()
  }

  /// `@unchecked Sendable`: other threads reach the record only while it is in ``all``, which its owner takes it out of
  /// before freeing it, and use only its lock.
  private struct Address: Hashable, @unchecked Sendable {
    let record: UnsafeMutablePointer<CreationThread>
  }
  private static let all = Lock<Set<Address>>([])

  /// Waits until every read that is under way on any thread has ended.
  ///
  /// Reads find and copy a value and run nobody's initializer or hook, so nobody waits for long. A reader waits for no
  /// more than this call's look at its lock, and a thread that begins or ends for the call.
  static func awaitReaders() {
    all.withLock { threads in
      for thread in threads { thread.record.pointee.reading.withLock { _ in } }
    }
  }
}
