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
  private let moreDistance: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}

/// The copies of a decoded value: one, or one for each of some threads once two have met at the first.
///
/// With one copy, two threads that read without a pause are slower than one of them alone (benchmark "Read a preference from
/// two threads"). Of a string, an array, a dictionary or a set each copy has a buffer of its own, since a buffer that is shared
/// is counted by all of them.
///
/// `@unchecked Sendable`: the value of a copy is touched only by the thread that has exchanged its atomic `state` for an odd
/// number (acquiring), until it stores an even one (releasing). `first` never changes; `rest` is stored once, releasing.
@usableFromInline final class PreferenceCopies<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let first: UnsafeMutablePointer<PreferenceCopy<Value>>
  /// The address of the threads' copies; 0 until two threads have met.
  @usableFromInline let rest = Atomic<UInt>(0)

  init() { first = PreferenceCopies.allocate(1) }

  deinit {
    PreferenceCopies.free(first, 1)
    if let rest = UnsafeMutablePointer<PreferenceCopy<Value>>(bitPattern: rest.load(ordering: .acquiring)) {
      PreferenceCopies.free(rest, threadCopyCount)
    }
  }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<PreferenceCopy<Value>> {
    let copies = UnsafeMutablePointer<PreferenceCopy<Value>>.allocate(capacity: count)
    for index in 0..<count { (copies + index).initialize(to: PreferenceCopy()) }
    return copies
  }

  private static func free(_ copies: UnsafeMutablePointer<PreferenceCopy<Value>>, _ count: Int) {
    copies.deinitialize(count: count)
    copies.deallocate()
  }

  /// The copy that the calling thread reads.
  @inlinable var mine: UnsafeMutablePointer<PreferenceCopy<Value>> {
    guard let rest = UnsafeMutablePointer<PreferenceCopy<Value>>(bitPattern: rest.load(ordering: .acquiring)) else {
      return first
    }
    return rest + threadCopyIndex()
  }

  /// The value, if the calling thread's copy is of that version and no other thread is at it.
  @inlinable func value(of version: UInt64) -> Value? {
    let copy = mine
    guard
      copy.pointee.state.compareExchange(expected: version << 1, desired: version << 1 | 1, ordering: .acquiring)
        .exchanged
    else { return nil }
    defer { copy.pointee.state.store(version << 1, ordering: .releasing) }
    return copy.pointee.value
  }

  /// Keeps a value that was decoded for the version; gives way to a thread that is at the copy.
  ///
  /// Called by one thread at a time.
  func keep(_ value: Value, of version: UInt64) {
    let copy = mine
    let found = copy.pointee.state.load(ordering: .relaxed)
    // Of this version already, so the copy was taken when this thread wanted it.
    if found >> 1 == version { return makeThreadCopies() }
    guard found & 1 == 0, found < version << 1,
      copy.pointee.state.compareExchange(expected: found, desired: found | 1, ordering: .acquiring).exchanged
    else { return }
    copy.pointee.value = copy == first ? value : withOwnBuffer(value)
    copy.pointee.state.store(version << 1, ordering: .releasing)
  }

  private func makeThreadCopies() {
    guard rest.load(ordering: .relaxed) == 0 else { return }
    rest.store(UInt(bitPattern: PreferenceCopies.allocate(threadCopyCount)), ordering: .releasing)
  }
}

private let threadCopyCount = 16

/// Which of the threads' copies is the calling thread's.
///
/// Threads that were started one after the other have different ones.
@usableFromInline func threadCopyIndex() -> Int { Int(currentThread >> 12) % threadCopyCount }

/// A collection that can move its elements to a buffer that no other value shares.
private protocol Buffered {
  func withOwnBuffer() -> Self
}

extension String: Buffered {
  fileprivate func withOwnBuffer() -> String { String(decoding: Array(utf8), as: UTF8.self) }
}

extension Array: Buffered {
  fileprivate func withOwnBuffer() -> Array { map { $0 } }
}

extension Dictionary: Buffered {
  fileprivate func withOwnBuffer() -> Dictionary { mapValues { $0 } }
}

extension Set: Buffered {
  fileprivate func withOwnBuffer() -> Set { filter { _ in true } }
}

private func withOwnBuffer<Value>(_ value: Value) -> Value {
  (value as? any Buffered)?.withOwnBuffer() as? Value ?? value
}
