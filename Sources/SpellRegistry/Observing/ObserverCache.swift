internal import Synchronization

/// Which classes observe their injections: the runtime's answers, kept, since they are needed at every injection.
enum ObserverCache {
  private static let count = 512

  /// One word for each of some classes: its address and, in the lowest bit, which that leaves free, whether it observes.
  ///
  /// Two classes may want the same word; the later has it then. Relaxed: a word says all there is to know, and is true
  /// whenever it is read.
  private static let words = Words()

  /// `@unchecked Sendable`: the pointer never changes, and what it points at is atomic.
  private struct Words: @unchecked Sendable {
    let first: UnsafeMutablePointer<Atomic<UInt>>

    init() {
      first = .allocate(capacity: count)
      for index in 0..<count { (first + index).initialize(to: Atomic(0)) }
    }
  }

  /// Whether objects of a class are ``InjectionObserver``s.
  static func observes(_ type: any AnyObject.Type) -> Bool {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let word = words.first + Int(bitPattern: (address >> 5) % UInt(count))
    let known = word.pointee.load(ordering: .relaxed)
    if known & ~1 == address { return known & 1 == 1 }
    let observes = type is any InjectionObserver.Type
    word.pointee.store(address | (observes ? 1 : 0), ordering: .relaxed)
    return observes
  }
}
