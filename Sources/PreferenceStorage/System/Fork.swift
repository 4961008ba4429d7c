internal import Support
import Synchronization

/// What a forked child must not share with its parent.
///
/// A descriptor that a child inherits holds the parent's lock and reads the parent's notices, also long after the parent
/// ended. So the child closes the descriptors of this module as its first act, and takes new objects for what the
/// parent's threads may have been in the midst of (``PerProcess``).
enum Fork {
  private static let counter = Atomic<Int>(0)
  private static let descriptors = DescriptorSet()
  private static let registration: Void = {
    _ = descriptors
    // Windows has no fork.
    #if !os(Windows)
      _ = pthread_atfork(nil, nil) {
        Fork.counter.add(1, ordering: .relaxed)
        Fork.descriptors.closeAll()
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

  /// Makes a child close the descriptor.
  static func register(_ descriptor: Int32) {
    registration
    descriptors.insert(descriptor)
  }

  static func unregister(_ descriptor: Int32) { descriptors.remove(descriptor) }
}

/// Descriptors, a bit for each, so that a child can find them without a lock.
///
/// `@unchecked Sendable`: the pointer never changes, and what it points at are atomics.
private final class DescriptorSet: @unchecked Sendable {
  /// More than the number of descriptors that Linux lets a process have, unless it is set up otherwise.
  private static let capacity = 1 << 20
  private let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: capacity / 64)

  init() {
    for index in 0..<DescriptorSet.capacity / 64 { (words + index).initialize(to: Atomic(0)) }
  }

  func insert(_ descriptor: Int32) {
    guard descriptor < DescriptorSet.capacity else { return }
    words[Int(descriptor) / 64].bitwiseOr(1 << UInt64(descriptor % 64), ordering: .relaxed)
  }

  func remove(_ descriptor: Int32) {
    guard descriptor < DescriptorSet.capacity else { return }
    words[Int(descriptor) / 64].bitwiseAnd(~(1 << UInt64(descriptor % 64)), ordering: .relaxed)
  }

  #if !os(Windows)
    func closeAll() {
      for index in 0..<DescriptorSet.capacity / 64 {
        var word = words[index].exchange(0, ordering: .relaxed)
        while word != 0 {
          close(Int32(index * 64 + word.trailingZeroBitCount))
          word &= word - 1
        }
      }
    }
  #endif
}

/// An object of which a forked child makes its own.
///
/// The parent's object is never used again: another thread may have been changing it when the process forked.
struct PerProcess<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private final class Entry: Sendable {
    let object: Object
    let forkCount: Int

    init(_ object: Object, _ forkCount: Int) {
      self.object = object
      self.forkCount = forkCount
    }
  }

  /// The address of a retained entry; it changes once in each process.
  private let address = Atomic<UInt>(0)

  /// The process's object, made at the first call.
  ///
  /// Two atomic loads after that.
  func object(_ make: () -> Object) -> Object {
    let found = address.load(ordering: .acquiring)
    let forkCount = Fork.count
    if let entry = entry(at: found), entry.forkCount == forkCount { return entry.object }
    let new = Entry(make(), forkCount)
    let retained = Unmanaged.passRetained(new)
    let (isExchanged, winner) = address.compareExchange(
      expected: found, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
    if isExchanged { return new.object }
    retained.release()
    return entry(at: winner)?.object ?? new.object
  }

  /// The process's object, if there is one.
  var existing: Object? {
    guard let entry = entry(at: address.load(ordering: .acquiring)), entry.forkCount == Fork.count else { return nil }
    return entry.object
  }

  private func entry(at address: UInt) -> Entry? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged<Entry>.fromOpaque($0).takeUnretainedValue() }
  }

  deinit {
    let last = address.load(ordering: .acquiring)
    guard let entry = entry(at: last), entry.forkCount == Fork.count else { return }
    Unmanaged.passUnretained(entry).release()
  }
}
