internal import PreferenceStorage
public import Synchronization

/// A decoded value, with an atomic state that contains the value's version and a lock bit.
///
/// A reader that finds the expected version in the state sets the bit with acquiring order, copies the value, and
/// clears the bit with releasing order. A read takes two atomic operations, and never waits for other threads.
@usableFromInline struct PreferenceCopy<Value: Sendable>: ~Copyable {
  /// Twice the version of `value`, plus 1 while a thread uses the value; 0 if there is no value.
  @usableFromInline let state = Atomic<UInt64>(0)
  @usableFromInline var value: Value?
  /// Padding that keeps the copies of different threads in different cache lines.
  private let distance: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}

/// Four copies of a decoded value; each thread uses the copy with the index `threadCopyIndex()`.
///
/// Several threads may use the same copy, but not at the same time.
///
/// With a single copy, two threads that read without a pause would be slower than one thread alone.
///
/// `@unchecked Sendable`: the atomic `state` of a copy guards the copy's value. To access the value, a thread first
/// exchanges the even `state` for an odd number, with acquiring order. The thread has exclusive access until it stores
/// an even number with releasing order. `first` never changes.
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

  /// Returns the value in the copy that the calling thread uses.
  ///
  /// Returns nil if the copy has another version, or if another thread is using the copy at the same time.
  @inlinable func value(of version: UInt64) -> Value? { withValue(of: version) { $0 } }

  /// Calls `body` with the value in the calling thread's copy, and returns the result.
  ///
  /// If the copy has another version, or if another thread uses the copy, returns nil without calling `body`.
  @inlinable @inline(__always) func withValue<Result>(of version: UInt64, _ body: (Value) -> Result?) -> Result? {
    let copy = first + threadCopyIndex()
    guard
      copy.pointee.state.compareExchange(expected: version << 1, desired: version << 1 | 1, ordering: .acquiring)
        .exchanged
    else { return nil }
    defer { copy.pointee.state.store(version << 1, ordering: .releasing) }
    return copy.pointee.value.flatMap(body)
  }

  /// Stores a value and its version in the calling thread's copy, unless another thread is using the copy.
  func keep(_ value: Value, of version: UInt64) {
    let copy = first + threadCopyIndex()
    let found = copy.pointee.state.load(ordering: .relaxed)
    guard found & 1 == 0, found != version << 1,
      copy.pointee.state.compareExchange(expected: found, desired: found | 1, ordering: .acquiring).exchanged
    else { return }
    // The former value is released after the copy is unlocked, because its deinitializer may read the preference.
    let former = copy.pointee.value
    copy.pointee.value = value
    copy.pointee.state.store(version << 1, ordering: .releasing)
    withExtendedLifetime(former) {}
  }
}

private let threadCopyCount = 4

/// Returns the index of the copy that the calling thread uses, from bits 12 and 13 of the thread's number.
///
/// If this number is an address, and memory pages have 4 KiB, threads that start one after another usually have
/// different indices.
@usableFromInline func threadCopyIndex() -> Int { Int(currentThread >> 12) & (threadCopyCount - 1) }
