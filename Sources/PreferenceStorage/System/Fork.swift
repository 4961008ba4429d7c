internal import Support
import Synchronization

/// The state that a forked child must not share with its parent.
///
/// A store of the parent's throws `.forked` in the child, as another thread may have been in the midst of anything. The child
/// first closes the descriptors that hold locks: they would hold the parent's locks for as long as the child runs.
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

  /// The number of forks that led to this process since the first use: one atomic load, and no system call.
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

    init() { for index in 0..<LockedFiles.capacity { (slots + index).initialize(to: Atomic(-1)) } }
  }
}

/// An object of which each process has one for its life, also one that was forked off, which doesn't use its parent's.
struct PerProcess<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private final class Entry: Sendable {
    let object: Object
    let forkCount = Fork.count
    /// The entry of a process that was forked off.
    let next = AtomicLazyReference<Entry>()

    init(_ object: Object) { self.object = object }
  }

  private let first = AtomicLazyReference<Entry>()

  /// The process's object, made at the first call.
  func object(_ make: () -> Object) -> Object {
    var entry = first.load() ?? first.storeIfNil(Entry(make()))
    while entry.forkCount != Fork.count { entry = entry.next.load() ?? entry.next.storeIfNil(Entry(make())) }
    return entry.object
  }
}
