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

  /// The system's lock and condition, at an address that doesn't change.
  ///
  /// `@unchecked Sendable`: the pointers never change, and point at what the system guards.
  @safe struct SystemMonitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<CONDITION_VARIABLE>.allocate(capacity: 1)

    init() {
      unsafe mutex.initialize(to: SRWLOCK())
      unsafe condition.initialize(to: CONDITION_VARIABLE())
      unsafe InitializeSRWLock(mutex)
      unsafe InitializeConditionVariable(condition)
    }

    func lock() { unsafe AcquireSRWLockExclusive(mutex) }
    func unlock() { unsafe ReleaseSRWLockExclusive(mutex) }
    func sleep() { _ = unsafe SleepConditionVariableSRW(condition, mutex, INFINITE, 0) }
    func wakeAll() { unsafe WakeAllConditionVariable(condition) }
  }

  /// The low end of the calling thread's stack, and its size; nil if the system doesn't tell.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? {
    var lowest = ULONG_PTR()
    var highest = ULONG_PTR()
    unsafe GetCurrentThreadStackLimits(&lowest, &highest)
    return (UInt(lowest), Int(highest - lowest))
  }

  /// Lets another thread get on while this one waits for it to leave a few instructions.
  func pauseBriefly(afterLooks looks: Int) {
    if looks < 64 { return }
    if looks < 128 {
      _ = SwitchToThread()
    } else {
      Sleep(1)
    }
  }
#endif
