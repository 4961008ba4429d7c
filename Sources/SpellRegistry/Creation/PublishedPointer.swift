public import Synchronization

/// A pointer that any number of threads follow while another may exchange it and free what it pointed to.
///
/// Each thread reads under a lock of its own, ``CreationThread/reading``, that no other reader ever takes: so readers
/// never wait for each other, and write to no memory that they share but the reference counts of what they copy. Whoever exchanges the pointer then takes and
/// leaves each thread's lock in turn before it frees anything. That is enough: a read that began before its thread's
/// lock was taken has ended, and let go of the old pointer; one that begins after it sees the new pointer, since the
/// exchange came before the lock was left, and the lock orders the two. (Read-copy-update, with a lock for each thread
/// to tell when all of them have passed a point between reads; McKenney and Slingwine, 1998.)
///
/// `@unchecked Sendable`: the pointer is atomic. What it points to changes threads where its owner does: with a wrapper,
/// where the value is Sendable; with a registration, whose shared scopes exist for Sendable values only.
@frozen @usableFromInline struct PublishedPointer: ~Copyable, @unchecked Sendable {
  /// Releasing and acquiring: whoever sees the pointer sees what it points to.
  @usableFromInline let pointer: Atomic<UnsafeMutableRawPointer?>

  @inlinable init() { pointer = Atomic(nil) }

  /// The pointer, valid until `thread` lets go of its reading lock.
  ///
  /// - Precondition: `thread` is the current one and holds that lock, or whoever exchanges is kept away otherwise.
  @inlinable var current: UnsafeMutableRawPointer? { pointer.load(ordering: .acquiring) }

  /// Puts a pointer in place of the one there is, which readers may go on following.
  func publish(_ new: UnsafeMutableRawPointer?) { pointer.store(new, ordering: .releasing) }

  /// Takes the pointer away, and returns it when no reader follows it any more.
  func withdraw() -> UnsafeMutableRawPointer? { exchange(for: nil) }

  /// Puts a pointer in place of another, which is returned when no reader follows it any more.
  ///
  /// - Precondition: The current thread is not reading.
  func exchange(for new: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let old = pointer.exchange(new, ordering: .acquiringAndReleasing)
    if old != nil { CreationThread.awaitReaders() }
    return old
  }
}

/// There is no value: thrown where an Optional would cost a look at the type.
struct NoValue: Error {}
