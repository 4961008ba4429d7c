internal import Synchronization

/// Finds a word by type, with no lock that another thread wants; one thread at a time may change it.
///
/// An open hash table: a type's own address is spread over the slots, and who finds the slot taken looks at the next
/// one. A slot's key is written once, after its word, and never changes; a type with nothing to find has the word
/// `nothing`. So a reader that finds the key finds a word that was the type's at that moment. Where the slots get too
/// few, a table of twice as many is published, and the old one freed when nobody reads it (see ``PublishedPointer``).
final class TypeTable: Sendable {
  static let nothing: UInt = 0

  private struct Slot: ~Copyable {
    /// Releasing and acquiring: whoever sees the key sees the word that was written before it.
    let key = Atomic<UInt>(0)
    /// Releasing and acquiring: whoever sees a pointer here sees what it points to.
    let word = Atomic<UInt>(nothing)
  }

  private struct Slots: ~Copyable {
    let first: UnsafeMutablePointer<Slot>
    /// One less than their number, which is a power of two.
    let mask: Int
    /// How many have a key; for whoever may change the table.
    ///
    /// Atomic nevertheless: to change a plain property is to modify the whole struct, which others are reading.
    let used = Atomic(0)

    init(count: Int) {
      mask = count - 1
      first = .allocate(capacity: count)
      for index in 0..<count { (first + index).initialize(to: Slot()) }
    }

    deinit {
      first.deinitialize(count: mask + 1)
      first.deallocate()
    }

    /// The slot with this key, or nil.
    func slot(of key: UInt) -> UnsafeMutablePointer<Slot>? {
      var index = Int(truncatingIfNeeded: Self.spread(key)) & mask
      while true {
        let found = first[index].key.load(ordering: .acquiring)
        if found == key { return first + index }
        if found == 0 { return nil }
        index = (index + 1) & mask
      }
    }

    /// Gives a word to a key that has no slot yet; the caller has seen that there is room.
    func add(_ word: UInt, for key: UInt) {
      var index = Int(truncatingIfNeeded: Self.spread(key)) & mask
      while first[index].key.load(ordering: .relaxed) != 0 { index = (index + 1) & mask }
      first[index].word.store(word, ordering: .releasing)
      first[index].key.store(key, ordering: .releasing)
      used.add(1, ordering: .relaxed)
    }

    /// Types' addresses are multiples of eight or more, and near each other; Fibonacci hashing spreads them (Knuth).
    private static func spread(_ key: UInt) -> UInt64 { (UInt64(key) &* 0x9E37_79B9_7F4A_7C15) >> 32 }
  }

  private let slots = PublishedPointer()

  deinit { slots.current.map(Self.free) }

  /// The word of a type.
  ///
  /// - Precondition: The current thread holds its reading lock.
  func word(for type: ObjectIdentifier) -> UInt {
    guard let slots = slots.current?.assumingMemoryBound(to: Slots.self) else { return Self.nothing }
    guard let slot = slots.pointee.slot(of: UInt(bitPattern: type)) else { return Self.nothing }
    return slot.pointee.word.load(ordering: .acquiring)
  }

  /// Changes the word of a type; where it pointed to anything, call ``CreationThread/awaitReaders()`` before freeing
  /// that.
  ///
  /// - Precondition: No other thread is changing the table, and the current one is not reading it.
  func set(_ word: UInt, for type: ObjectIdentifier) {
    let key = UInt(bitPattern: type)
    if let slot = slots.current?.assumingMemoryBound(to: Slots.self).pointee.slot(of: key) {
      slot.pointee.word.store(word, ordering: .releasing)
    } else if word != Self.nothing {
      roomySlots().pointee.add(word, for: key)
    }
  }

  /// The slots, with room for one more key: half of them stay free, so that looks are short.
  private func roomySlots() -> UnsafeMutablePointer<Slots> {
    let old = slots.current?.assumingMemoryBound(to: Slots.self)
    if let old, old.pointee.used.load(ordering: .relaxed) * 2 <= old.pointee.mask { return old }
    let new = UnsafeMutablePointer<Slots>.allocate(capacity: 1)
    new.initialize(to: Slots(count: old.map { ($0.pointee.mask + 1) * 2 } ?? 16))
    if let old {
      for index in 0...old.pointee.mask {
        let key = old.pointee.first[index].key.load(ordering: .relaxed)
        let word = old.pointee.first[index].word.load(ordering: .relaxed)
        // A type that has nothing any more need not take a slot.
        if word != Self.nothing { new.pointee.add(word, for: key) }
      }
    }
    slots.exchange(for: new).map(Self.free)
    return new
  }

  private static func free(_ slots: UnsafeMutableRawPointer) {
    let slots = slots.assumingMemoryBound(to: Slots.self)
    slots.deinitialize(count: 1)
    slots.deallocate()
  }
}
