// Every call of this module that differs from platform to platform.

internal import Support

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Whether the caller runs on the main actor's executor.
///
/// Not the same as being on the main thread: `dispatchMain()` gives the main queue to other threads, and the main actor with
/// it. So the queue is asked, by a mark of our own on it. On Darwin the main thread counts too: it may run main-actor code
/// before it runs the queue. Without Dispatch there is one thread.
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

/// A signal that one thread sleeps for.
struct ThreadSignal: Sendable {
  #if canImport(Dispatch)
    private let semaphore = DispatchSemaphore(value: 0)
    func wait() { semaphore.wait() }
    func wake() { semaphore.signal() }
  #else
    /// Stops the program: no other thread could end the wait.
    func wait() { trap("A value is waited for that is made by the only thread there is.") }
    func wake() {}
  #endif
}

/// The calling task.
struct TaskID: Sendable, Equatable {
  private let hash: Int?

  /// The hash of a task that runs is its own.
  static var current: TaskID { unsafe withUnsafeCurrentTask { unsafe TaskID(hash: $0?.hashValue) } }
}

/// The address on the calling thread's stack below which no creation should begin; 0 if the system doesn't tell.
///
/// A quarter of the stack, between 32 and 128 KiB, is left for what runs besides this module. Costs some microseconds on
/// the main thread, so each thread asks once.
func lowestUsableStackAddress() -> UInt {
  guard let (lowest, size) = stackOfThisThread() else { return 0 }
  return lowest + UInt(Swift.min(Swift.max(size / 4, 32 << 10), 128 << 10))
}

/// Whether the calling function's own frame is below an address.
///
/// A fiber's stack lies anywhere, so an address that is far below says nothing.
@inline(__always) func isStackAddress(below limit: UInt) -> Bool {
  var here: UInt8 = 0
  let address = unsafe withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
  return address < limit && limit - address < 1 << 20
}

/// The time since it was made, on whatever clock it was given.
final class ElapsedClock: Sendable {
  private let elapsed: @Sendable () -> Duration

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
  }

  /// The clock of a registry that was given none.
  static let continuous = ElapsedClock(ContinuousClock())

  var now: Duration { elapsed() }
}

/// The advice of a message about a mistake of this package's own.
let reportThis = "Report this text as an issue of Spellbook's repository."

/// Stops the program with a sentence, in release builds too (where `preconditionFailure` says nothing).
package func trap(_ message: String, at place: SourcePlace? = nil) -> Never {
  if let place { fatalError(message, file: place.fileID, line: UInt(place.line)) }
  fatalError(message)
}
