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

/// A clock that shows the time since its creation, as measured by a clock of any type.
final class ElapsedClock: Sendable {
  private let elapsed: @Sendable () -> Duration

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
  }

  /// The clock of registries that are created without a clock and without a parent.
  static let continuous = ElapsedClock(ContinuousClock())

  var now: Duration { elapsed() }
}

/// The advice at the end of a message about a bug in this package.
let reportThis = "Report this text as an issue of Spellbook's repository."

/// Stops the program with a message, even in release builds, in which `preconditionFailure` prints no message.
///
/// If the current registry belongs to a test, and `place` isn't nil, the test first gets the message as an issue.
package func trap(_ message: String, at place: SourcePlace? = nil) -> Never {
  guard let place else { fatalError(message) }
  InitializerRegistry.current.reportFailure(message, at: place)
  fatalError(message, file: place.fileID, line: UInt(place.line))
}
