// The threads of Windows.

#if os(Windows)
  internal import Support
  internal import WinSDK

  /// One pointer for each thread, cleaned up when its thread ends.
  ///
  /// A fiber's, which is a thread's unless the program makes fibers: only those have a destructor.
  struct ThreadLocalPointer: Sendable {
    private let index: DWORD

    /// - Precondition: The process has not run out of fiber-local indices (some 4,000).
    init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) {
      index = unsafe FlsAlloc(unsafeBitCast(cleanUp, to: PFLS_CALLBACK_FUNCTION.self))
      precondition(index != .max, "The process has no fiber-local index left (FlsAlloc: \(GetLastError())).")
    }

    var pointer: UnsafeMutableRawPointer? {
      get { unsafe FlsGetValue(index) }
      nonmutating set { _ = unsafe FlsSetValue(index, newValue) }
    }
  }

  /// The low end of the calling thread's stack, and its size; nil if the system doesn't tell.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? {
    var lowest = ULONG_PTR()
    var highest = ULONG_PTR()
    unsafe GetCurrentThreadStackLimits(&lowest, &highest)
    return (UInt(lowest), Int(highest - lowest))
  }
#endif
