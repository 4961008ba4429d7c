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

/// The frames of one thread, the innermost last, in memory that only this thread uses.
///
/// An array would check at each change that no other array shares its storage, and retain the storage for each search
/// (benchmark: "resolve a graph of five"). The owner of the stack must call ``free()``.
@safe struct FrameStack: RandomAccessCollection {
  private var base = UnsafeMutablePointer<Frame>.allocate(capacity: 16)
  private var capacity = 16
  private(set) var endIndex = 0

  var startIndex: Int { 0 }
  subscript(index: Int) -> Frame { @inline(__always) unsafeAddress { unsafe UnsafePointer(base + index) } }

  @inline(__always) mutating func append(_ frame: Frame, of task: TaskID) {
    if endIndex == capacity { grow() }
    unsafe (base + endIndex).initialize(to: frame)
    unsafe base[endIndex].task = task
    endIndex += 1
  }

  @inline(__always) mutating func removeLast() {
    endIndex -= 1
    unsafe (base + endIndex).deinitialize(count: 1)
  }

  /// Records in the innermost frame whether a registry may keep what is made in it.
  mutating func note(isKept: Bool) { unsafe base[endIndex - 1].isKept = isKept }

  @inline(never) private mutating func grow() {
    let larger = UnsafeMutablePointer<Frame>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: base, count: endIndex)
    unsafe base.deallocate()
    unsafe (base, capacity) = (larger, capacity * 2)
  }

  func free() { unsafe base.deallocate() }
}
