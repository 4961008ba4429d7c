internal import PreferenceStorage
public import Synchronization

/// A decoded value beside an atomic state, which has the version for which it is good, and whether a thread is copying or
/// replacing it.
///
/// A reader that finds the state at its version takes it (acquiring), copies the value, and gives it back (releasing): two
/// exchanges, no wait.
@usableFromInline struct PreferenceCopy<Value: Sendable>: ~Copyable {
  /// The version of `value`, twice, and one more while it is taken; 0 for none.
  @usableFromInline let state = Atomic<UInt64>(0)
  @usableFromInline var value: Value?
  /// Keeps what another thread writes off the lines of memory that this one's thread reads.
  private let distance: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}

/// The copies of a decoded value, one for each of some threads.
///
/// With one copy, two threads that read without a pause would be slower than one of them alone.
///
/// `@unchecked Sendable`: the value of a copy is touched only by the thread that has exchanged its atomic `state` for an odd
/// number (acquiring), until it stores an even one (releasing). `first` never changes.
@usableFromInline final class PreferenceCopies<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let first: UnsafeMutablePointer<PreferenceCopy<Value>>

  init() {
    first = .allocate(capacity: threadCopyCount)
    for index in 0..<threadCopyCount { (first + index).initialize(to: PreferenceCopy()) }
  }

  deinit {
    first.deinitialize(count: threadCopyCount)
    first.deallocate()
  }

  /// The value, if the calling thread's copy is of that version and no other thread is at it.
  @inlinable func value(of version: UInt64) -> Value? {
    let copy = first + threadCopyIndex()
    guard
      copy.pointee.state.compareExchange(expected: version << 1, desired: version << 1 | 1, ordering: .acquiring)
        .exchanged
    else { return nil }
    defer { copy.pointee.state.store(version << 1, ordering: .releasing) }
    return copy.pointee.value
  }

  /// Keeps a value that was decoded for the version; gives way to a thread that is at the copy, and to a later version.
  func keep(_ value: Value, of version: UInt64) {
    let copy = first + threadCopyIndex()
    let found = copy.pointee.state.load(ordering: .relaxed)
    guard found & 1 == 0, found < version << 1,
      copy.pointee.state.compareExchange(expected: found, desired: found | 1, ordering: .acquiring).exchanged
    else { return }
    copy.pointee.value = value
    copy.pointee.state.store(version << 1, ordering: .releasing)
  }
}

private let threadCopyCount = 4

/// The index of the calling thread's copy: threads that were started one after the other have different ones.
@usableFromInline func threadCopyIndex() -> Int { Int(currentThread >> 12) & (threadCopyCount - 1) }
