// The thread-local storage and the stack bounds of threads on Windows.

#if os(Windows)
  internal import Dispatch
  internal import Support
  internal import WinSDK

  /// A pointer with a separate value for each thread.
  ///
  /// The storage is fiber-local, because only fiber-local storage has a destructor. By default, a thread is one fiber.
  struct ThreadLocalPointer: Sendable {
    private let index: DWORD

    /// Creates a pointer that is nil on each thread until the thread sets it.
    ///
    /// - Parameter cleanUp: Called when a thread ends, with the value that the thread has set.
    /// - Precondition: The process has not run out of fiber-local indices (about 4,000).
    init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) {
      index = unsafe FlsAlloc(unsafeBitCast(cleanUp, to: PFLS_CALLBACK_FUNCTION.self))
      precondition(index != .max, "The process has no fiber-local index left (FlsAlloc: \(GetLastError())).")
    }

    var pointer: UnsafeMutableRawPointer? {
      get { unsafe FlsGetValue(index) }
      nonmutating set { _ = unsafe FlsSetValue(index, newValue) }
    }
  }

  /// Runs `body` on a thread of Dispatch, and returns when it is done.
  func onNewThread(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      // The calling thread waits for the work, so the closure never runs beside the caller.
      let work = Unchecked(value: body)
      let isDone = DispatchSemaphore(value: 0)
      DispatchQueue(label: "spellbook.thread").async {
        work.value()
        isDone.signal()
      }
      isDone.wait()
    }
  }

  /// Returns nil, because a library would have to be named.
  func symbol(_ name: String) -> UnsafeMutableRawPointer? { nil }

  /// Returns the lowest address and the size of the calling thread's stack, or nil if the system doesn't report them.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? {
    var lowest = ULONG_PTR()
    var highest = ULONG_PTR()
    unsafe GetCurrentThreadStackLimits(&lowest, &highest)
    return (UInt(lowest), Int(highest - lowest))
  }
#endif
