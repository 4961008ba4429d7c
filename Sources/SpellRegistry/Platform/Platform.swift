// This file and the others in this folder contain the system calls that differ between platforms.

internal import Support

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Returns whether the caller runs on the main actor's executor.
///
/// The main actor isn't bound to the main thread: `dispatchMain()` gives the main queue, and with it the main actor, to
/// other threads. The function therefore looks for a value that only the main queue has. On Darwin, it also returns
/// true on the main thread, which may run main-actor code before the main queue runs. Without Dispatch, there is only
/// one thread, so the function always returns true.
func isOnMainActor() -> Bool {
  #if canImport(Darwin)
    if pthread_main_np() != 0 { return true }
  #endif
  #if canImport(Dispatch)
    return DispatchQueue.getSpecific(key: mainQueueMark) != nil
  #else
    return true
  #endif
}

#if canImport(Dispatch)
  private let mainQueueMark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()
#endif

struct ThreadSignal: Sendable {
  #if canImport(Dispatch)
    private let semaphore = DispatchSemaphore(value: 0)
    func wait() { semaphore.wait() }
    func wake() { semaphore.signal() }
  #else
    /// Stops the program, because no other thread could end the wait.
    func wait() { trap("A value is waited for that is made by the only thread there is.") }
    func wake() {}
  #endif
}

/// The identity of a task, which tells it apart from other running tasks; outside of tasks, a single identity.
struct TaskID: BitwiseCopyable, Sendable, Equatable {
  /// A C function that returns the identity of the calling task as a number; 0 outside of tasks.
  typealias Reader = @convention(c) () -> UInt
  private let number: UInt

  init(_ number: UInt) { self.number = number }

  /// The runtime's function behind `withUnsafeCurrentTask`, which takes a fifth of its time, because it retains nothing.
  ///
  /// If the program doesn't export the function, as in an executable with a static standard library, the task's hash
  /// value takes the place of its address.
  static let reader: Reader =
    unsafe symbol("swift_task_getCurrent").map { unsafe unsafeBitCast($0, to: Reader.self) } ?? {
      UInt(bitPattern: unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } ?? 0)
    }
}

/// Returns the stack address below which the calling thread shouldn't start an initializer, or 0 if it isn't known.
///
/// A quarter of the stack, but between 32 and 128 KiB, is left for code outside this module. The call takes some
/// microseconds on the main thread, so each thread calls this function only once.
func lowestUsableStackAddress() -> UInt {
  guard let (lowest, size) = stackOfThisThread() else { return 0 }
  return lowest + UInt(Swift.min(Swift.max(size / 4, 32 << 10), 128 << 10))
}

/// Returns whether the calling function's stack frame is below an address.
///
/// Returns false if the frame is 1 MiB or more below the address. It is then on another stack, such as that of a fiber.
@inline(__always) func isStackAddress(below limit: UInt) -> Bool {
  var here: UInt8 = 0
  let address = unsafe withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
  return address < limit && limit - address < 1 << 20
}
