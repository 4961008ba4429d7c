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

  /// Records that `thread` makes the value from now on, if the state is still `settled`.
  ///
  /// - Returns: Whether the state was still `settled`.
  func begin(from settled: UInt, on thread: UInt) -> Bool {
    state.compareExchange(expected: settled, desired: thread | Self.busy, ordering: .acquiringAndReleasing).exchanged
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
    var found = current
    while thread == nil || Self.isBusy(found) && found & ~Self.tags == thread {
      let (exchanged, other) = state.compareExchange(
        expected: found, desired: settled, ordering: .acquiringAndReleasing)
      if exchanged { return found }
      found = other
    }
    return nil
  }

  /// Wakes the threads that wait for the end of the state `found`.
  func wakeThreads(waitingIn found: UInt?) {
    if let found, found & Self.tags == Self.awaited { Waits.wake(at: id) }
  }

  /// The gate's address, which is only compared, never dereferenced.
  var id: UInt { address(of: self) }
}
