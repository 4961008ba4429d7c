internal import Support
import Synchronization

/// The state that a forked child must not share with its parent.
///
/// A store of the parent's throws `.forked` in the child, as another thread of the parent may have been in the midst of
/// anything. The child closes the descriptors that hold locks as its first act: they would hold the parent's locks for as
/// long as the child runs.
enum Fork {
  private static let counter = Atomic<Int>(0)
  private static let lockedFiles = LockedFiles()
  private static let registration: Void = {
    _ = lockedFiles
    // Windows has no fork.
    #if !os(Windows)
      _ = pthread_atfork(nil, nil) {
        Fork.counter.add(1, ordering: .relaxed)
        for index in 0..<LockedFiles.capacity {
          let file = Fork.lockedFiles.slots[index].exchange(-1, ordering: .relaxed)
          if file >= 0 { _ = close(file) }
        }
      }
    #endif
  }()

  /// How often the process has been forked off since the first use.
  ///
  /// One atomic load, where the process's identifier would cost a system call.
  static var count: Int {
    registration
    return counter.load(ordering: .relaxed)
  }

  /// Notes that the file is locked, or isn't any more.
  static func note(_ file: Int32, isLocked: Bool) {
    let (old, new) = isLocked ? (-1, file) : (file, -1)
    for index in 0..<LockedFiles.capacity
    where lockedFiles.slots[index].compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged { return }
  }

  /// The descriptors that hold locks, to be found by a child without a lock; one that finds no room isn't closed.
  ///
  /// `@unchecked Sendable`: the pointer never changes, and what it points at are atomics.
  private final class LockedFiles: @unchecked Sendable {
    static let capacity = 64
    let slots = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: capacity)

    init() {
      for index in 0..<LockedFiles.capacity { (slots + index).initialize(to: Atomic(-1)) }
    }
  }
}

/// An object of which each process has one, also one that was forked off: the parent's is never used again there.
///
/// Stored for the life of the process, which keeps it.
struct PerProcess<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private final class Entry: Sendable {
    let object: Object
    let forkCount = Fork.count

    init(_ object: Object) { self.object = object }
  }

  /// The address of a retained entry; it changes once in each process.
  private let address = Atomic<UInt>(0)

  /// The process's object, made at the first call.
  func object(_ make: () -> Object) -> Object {
    let found = address.load(ordering: .acquiring)
    if let entry = entry(at: found), entry.forkCount == Fork.count { return entry.object }
    let new = Unmanaged.passRetained(Entry(make()))
    let (isExchanged, winner) = address.compareExchange(
      expected: found, desired: UInt(bitPattern: new.toOpaque()), ordering: .acquiringAndReleasing)
    if isExchanged { return new.takeUnretainedValue().object }
    new.release()
    return entry(at: winner)!.object
  }

  private func entry(at address: UInt) -> Entry? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged<Entry>.fromOpaque($0).takeUnretainedValue() }
  }
}
