internal import Support
import Synchronization

/// The detection of forks, after which a child must not use the state of its parent.
///
/// A store of the parent throws `.forked` in the child, since another thread may have been changing its state. The
/// child first closes the descriptors of locked files, which would otherwise stay locked for as long as the child runs.
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

  /// The number of forks that led to this process since the first access; takes one atomic load, and no system call.
  static var count: Int {
    registration
    return counter.load(ordering: .relaxed)
  }

  /// Records that the file is locked, or that it is no longer locked.
  static func note(_ file: Int32, isLocked: Bool) {
    let (old, new) = isLocked ? (-1, file) : (file, -1)
    for index in 0..<LockedFiles.capacity
    where lockedFiles.slots[index].compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged { return }
  }

  /// The descriptors that hold locks, which a child can read without locking; any beyond the capacity aren't closed.
  ///
  /// `@unchecked Sendable`: the pointer never changes, and it points to atomics.
  private final class LockedFiles: @unchecked Sendable {
    static let capacity = 64
    let slots = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: capacity)

    init() { for index in 0..<LockedFiles.capacity { (slots + index).initialize(to: Atomic(-1)) } }
  }
}

/// An object of which each process has its own; a forked child doesn't use that of its parent.
struct PerProcess<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private final class Entry: Sendable {
    let object: Object
    let forkCount = Fork.count
    /// The entry of a child that this entry's process has forked.
    let next = AtomicLazyReference<Entry>()

    init(_ object: Object) { self.object = object }
  }

  private let first = AtomicLazyReference<Entry>()

  /// Returns the object of this process, which the first call creates.
  func object(_ make: () -> Object) -> Object {
    var entry = first.load() ?? first.storeIfNil(Entry(make()))
    while entry.forkCount != Fork.count { entry = entry.next.load() ?? entry.next.storeIfNil(Entry(make())) }
    return entry.object
  }
}
