internal import Support
import Synchronization

/// The detection of forks, after which a child must not use the state of its parent.
///
/// A store of the parent throws `.forked` in the child, since a thread of the parent may have been changing the state
/// of the store during the fork. As soon as the child starts, it closes the descriptors of locked files. Otherwise, if
/// the parent ended without unlocking a file, the file would stay locked for as long as the child runs.
package enum Fork {
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

  /// The number of forks between the process that first read this property and the current process.
  ///
  /// The first access registers a handler for forks. Any other access takes one atomic load and no system call.
  package static var count: Int {
    registration
    return counter.load(ordering: .relaxed)
  }

  /// Records that the file is locked, or that it is no longer locked.
  static func note(_ file: Int32, isLocked: Bool) {
    let (old, new) = isLocked ? (-1, file) : (file, -1)
    for index in 0..<LockedFiles.capacity
    where lockedFiles.slots[index].compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged { return }
  }

  /// A list of the descriptors of locked files, which a forked child closes.
  ///
  /// The child can read the list without a mutex, because it consists of atomics. If more files are locked than the
  /// capacity allows, the child doesn't close the excess descriptors.
  ///
  /// `@unchecked Sendable`: The pointer never changes, and it points to atomics.
  private final class LockedFiles: @unchecked Sendable {
    static let capacity = 64
    let slots = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: capacity)

    init() { for index in 0..<LockedFiles.capacity { (slots + index).initialize(to: Atomic(-1)) } }
  }
}

/// A holder of one object per process, so that a forked child doesn't use the object of its parent.
struct PerProcess<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private final class Entry: Sendable {
    let object: Object
    let forkCount = Fork.count
    /// The next entry, which belongs to a forked descendant of the process that has created this entry.
    let next = AtomicLazyReference<Entry>()

    init(_ object: Object) { self.object = object }
  }

  private let first = AtomicLazyReference<Entry>()

  /// Returns the object of this process, which the first call in the process creates with `make`.
  ///
  /// If several threads make the first calls at the same time, each may call `make`, but all get the same object.
  func object(_ make: () -> Object) -> Object {
    var entry = first.load() ?? first.storeIfNil(Entry(make()))
    while entry.forkCount != Fork.count { entry = entry.next.load() ?? entry.next.storeIfNil(Entry(make())) }
    return entry.object
  }
}
