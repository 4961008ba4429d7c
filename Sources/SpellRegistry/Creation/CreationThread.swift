/// What one thread is making, and what it waits for.
struct CreationThread {
  /// Only the thread itself writes this; others read it under the creation monitor while the thread waits.
  var innermost: UnsafeMutablePointer<CreationFrame>?
  /// The gate that the thread waits at; guarded by the creation monitor.
  var awaited: UnsafePointer<CreationGate>?
  /// Whose hooks run on this thread, the outermost first; only the thread itself uses it.
  var runningHooks: [ObjectIdentifier] = []

  private static let storage = ThreadLocalPointer { record in
    record.assumingMemoryBound(to: CreationThread.self).deinitialize(count: 1).deallocate()
  }

  /// This thread's record, made when it is first asked for and freed when the thread ends.
  static var current: UnsafeMutablePointer<CreationThread> {
    if let record = storage.pointer { return record.assumingMemoryBound(to: CreationThread.self) }
    let record = UnsafeMutablePointer<CreationThread>.allocate(capacity: 1)
    record.initialize(to: CreationThread())
    storage.pointer = UnsafeMutableRawPointer(record)
    return record
  }
}
