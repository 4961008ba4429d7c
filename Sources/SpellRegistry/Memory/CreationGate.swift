public import Synchronization

/// The atomic state of one value's creation.
///
/// | state | low 3 bits | other bits |
/// |---|---|---|
/// | vacant | 0 | 0 |
/// | busy | 1 | the ID of the thread that makes the value |
/// | ready | 2 | for a property, the epoch in which the value was made or last checked; 0 for any other value |
/// | awaited | 3 | the ID of the thread that makes the value, while at least one other thread sleeps in ``Waits`` |
/// | later | 4 | like ready; the property's value isn't in the memory of its `PropertyCell` |
/// | dropped | 5 | 0; the property's former value was dropped |
///
/// A state is settled unless it is busy or awaited. Threads that compete to make a value all try to exchange the
/// settled state for busy, and the thread that succeeds makes the value. It makes and writes the value with no lock
/// held, and then stores a settled state with releasing order. A reader that loads `ready` with acquiring order sees
/// everything that the successful thread wrote before the store. A value without competing threads, such as the value
/// of an ``AsyncRun``, is written while the gate is vacant.
@frozen @usableFromInline struct CreationGate: ~Copyable, Sendable {
  @usableFromInline let state: Atomic<UInt>

  @inlinable static var vacant: UInt { 0 }
  static var busy: UInt { 1 }
  @inlinable static var ready: UInt { 2 }
  static var awaited: UInt { 3 }
  static var later: UInt { 4 }
  static var dropped: UInt { 5 }
  @inlinable static var tags: UInt { 7 }
  /// The difference between successive epochs, and between successive thread IDs.
  ///
  /// Steps of this size never change the low bits, which are for the tags.
  static var unit: UInt { 8 }

  @inlinable init() { state = Atomic(Self.vacant) }

  @inlinable var isReady: Bool { state.load(ordering: .acquiring) & Self.tags == Self.ready }
  var current: UInt { state.load(ordering: .acquiring) }
  static func isBusy(_ state: UInt) -> Bool { state & tags == busy || state & tags == awaited }
  /// Returns whether a property in the given state has a value.
  static func hasValue(_ state: UInt) -> Bool { state & tags == ready || state & tags == later }
  /// Returns `state` with the epoch of another state.
  static func state(_ state: UInt, in epoch: UInt) -> UInt { state & tags | epoch & ~tags }

  /// Waits until no thread makes the value, and then records that the calling thread makes it, unless `isDone` returns
  /// true.
  ///
  /// However many threads call this function at once, one of them makes the value. The others wait, and then find either
  /// that `isDone` returns true or, if there is no value, that one of them is the next to make it.
  ///
  /// - Parameters:
  ///   - step: Returns the request for the value, which is a step of the error's path.
  ///   - isDone: Returns whether the caller needs no new value. It gets the gate's settled state.
  /// - Returns: The settled state in which the calling thread begins to make the value; nil if `isDone` returned true.
  /// - Throws: `.cycle` if the calling thread is making the value, or if the thread that makes it waits for the calling
  ///   thread.
  @inline(__always) func begin(
    on thread: CurrentThread, for step: () -> InjectionStep, unless isDone: (UInt) -> Bool
  ) throws(InjectionError) -> UInt? {
    while true {
      let found = current
      if Self.isBusy(found) {
        try Waits.wait(at: self, for: step(), on: thread)
      } else if isDone(found) {
        return nil
      } else if state.compareExchange(
        expected: found, desired: thread.id | Self.busy, ordering: .acquiringAndReleasing
      ).exchanged {
        return found
      }
    }
  }

  /// Sets the state to `settled` and wakes the waiting threads.
  ///
  /// - Parameter thread: The thread that makes the value. If it doesn't make the value any longer, because the value was
  ///   dropped meanwhile, the state stays. If this is nil, the state is set in any case.
  func settle(as settled: UInt, by thread: UInt? = nil) { wakeThreads(waitingIn: change(to: settled, by: thread)) }

  /// Sets the state as ``settle(as:by:)`` does, but wakes no threads.
  ///
  /// - Returns: The former state; nil if the state wasn't set.
  func change(to settled: UInt, by thread: UInt?) -> UInt? {
    guard let thread else { return state.exchange(settled, ordering: .acquiringAndReleasing) }
    let (isSet, found) = state.compareExchange(
      expected: thread | Self.busy, desired: settled, ordering: .acquiringAndReleasing)
    if isSet { return found }
    // A state that is awaited was busy before, and only its end follows.
    let isAwaited =
      found == thread | Self.awaited
      && state.compareExchange(expected: found, desired: settled, ordering: .acquiringAndReleasing).exchanged
    return isAwaited ? found : nil
  }

  /// Wakes the threads that wait for the end of the state `found`.
  func wakeThreads(waitingIn found: UInt?) {
    if let found, found & Self.tags == Self.awaited { Waits.wake(at: id) }
  }

  /// The gate's address, which is only compared, never dereferenced.
  var id: UInt { address(of: self) }
}
