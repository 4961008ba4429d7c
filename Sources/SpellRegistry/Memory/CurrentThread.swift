/// A reference to the calling thread's state.
///
/// - Precondition: Only the thread that gets the reference uses it.
@safe struct CurrentThread {
  private let state: UnsafeMutablePointer<ThreadState>

  private static let storage = unsafe ThreadLocalPointer {
    let state = unsafe $0.assumingMemoryBound(to: ThreadState.self)
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// The state of the calling thread, which is created on first use and freed when the thread ends.
  static var current: CurrentThread {
    if let state = unsafe storage.pointer {
      return unsafe CurrentThread(state: state.assumingMemoryBound(to: ThreadState.self))
    }
    return begin()
  }

  @inline(never) private static func begin() -> CurrentThread {
    let state = UnsafeMutablePointer<ThreadState>.allocate(capacity: 1)
    unsafe state.initialize(to: ThreadState())
    unsafe storage.pointer = UnsafeMutableRawPointer(state)
    return unsafe CurrentThread(state: state)
  }

  var fields: ThreadState {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(state) }
    @inline(__always) nonmutating unsafeMutableAddress { unsafe state }
  }
}
