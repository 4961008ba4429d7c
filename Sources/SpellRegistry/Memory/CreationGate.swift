public import Synchronization

/// The atomic state of one value's creation.
///
/// | state | low 3 bits | other bits |
/// |---|---|---|
/// | vacant | 0 | 0 |
/// | busy | 1 | the ID of the thread that makes the value |
/// | ready | 2 | for a property, the epoch in which the value was made or last checked; 0 for any other value |
/// | awaited | 3 | the ID of the thread that makes the value, while at least one other thread sleeps in ``Waits`` |
/// | replaced | 4 | 0; the property has a newer `PropertyCell` |
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
  static var replaced: UInt { 4 }
  @inlinable static var tags: UInt { 7 }
  /// The difference between successive epochs, and between successive thread IDs.
  ///
  /// Steps of this size never change the low bits, which are for the tags.
  static var unit: UInt { 8 }

  @inlinable init() { state = Atomic(Self.vacant) }

  @inlinable var isReady: Bool { state.load(ordering: .acquiring) & Self.tags == Self.ready }
  var current: UInt { state.load(ordering: .acquiring) }
  static func isBusy(_ state: UInt) -> Bool { state & tags == busy || state & tags == awaited }

  /// Records that `thread` makes the value from now on, if the state is still `settled`.
  ///
  /// - Returns: Whether the state was still `settled`.
  func begin(from settled: UInt, on thread: UInt) -> Bool {
    state.compareExchange(expected: settled, desired: thread | Self.busy, ordering: .acquiringAndReleasing).exchanged
  }

  /// Sets the state to `settled` and wakes the waiting threads, unless the state is already `replaced`.
  func settle(as settled: UInt) {
    var found = current
    while found != Self.replaced {
      let (exchanged, other) = state.compareExchange(
        expected: found, desired: settled, ordering: .acquiringAndReleasing)
      if exchanged {
        if found & Self.tags == Self.awaited { Waits.wake(at: id) }
        return
      }
      found = other
    }
  }

  /// The gate's address, which is only compared, never dereferenced.
  var id: UInt { address(of: self) }
}
