/// A hash table that is at most half full, and that maps the address of a type or of a declared key to a value.
///
/// A lookup in a dictionary copies the value, and so retains the objects that the value refers to. A lookup in this
/// table reads the value without a copy (benchmark: "Resolve a singleton"). The program's input can't choose the
/// addresses, and so can't provoke collisions. One multiplication is enough to hash an address.
@safe struct AddressTable<Value: ~Copyable>: ~Copyable {
  private struct Slot: ~Copyable {
    /// The address; 0 if the slot is free.
    var key: UInt = 0
    var value: Value?
  }

  private var slots: UnsafeMutablePointer<Slot>?
  /// The number of slots, a power of two; 0 until a value is put in the table.
  private var capacity = 0
  private var count = 0

  init() { unsafe slots = nil }

  deinit {
    unsafe slots?.deinitialize(count: capacity)
    unsafe slots?.deallocate()
  }

  /// Returns the result of calling `body` with the value for an address; nil if the address has no value.
  @inline(__always) func withValue<Result>(of id: ObjectIdentifier, _ body: (borrowing Value) -> Result) -> Result? {
    guard let slots = unsafe slots else { return nil }
    switch unsafe slots[index(of: UInt(bitPattern: id), in: slots)].value {
    case let value?: return body(value)
    case nil: return nil
    }
  }

  /// Calls `body` with each value, in no particular order.
  func forEach(_ body: (borrowing Value) -> Void) {
    guard let slots = unsafe slots else { return }
    for index in 0..<capacity {
      switch unsafe slots[index].value {
      case let value?: body(value)
      case nil: continue
      }
    }
  }

  /// Stores a value for an address.
  ///
  /// - Returns: The address's previous value; nil if the address had no value.
  mutating func insert(_ value: consuming Value, for id: ObjectIdentifier) -> Value? {
    let slots = unsafe slotsWithRoom()
    let index = unsafe index(of: UInt(bitPattern: id), in: slots)
    if unsafe slots[index].key == 0 { count += 1 }
    var value: Value? = consume value
    unsafe slots[index].key = UInt(bitPattern: id)
    unsafe swap(&slots[index].value, &value)
    return value
  }

  /// Removes the value for an address.
  ///
  /// - Returns: The removed value; nil if the address had no value.
  mutating func take(_ id: ObjectIdentifier) -> Value? {
    guard let slots = unsafe slots else { return nil }
    var hole = unsafe index(of: UInt(bitPattern: id), in: slots)
    guard unsafe slots[hole].key != 0 else { return nil }
    count -= 1
    var taken: Value?
    unsafe slots[hole].key = 0
    unsafe swap(&slots[hole].value, &taken)
    // A search stops at an empty slot, so the empty slot `hole` may hide a value in a later slot. If the search for
    // such a value would stop at `hole`, the value moves to `hole`, and the slot that it leaves becomes the next hole.
    var next = (hole + 1) & (capacity &- 1)
    while unsafe slots[next].key != 0 {
      let home = unsafe home(of: slots[next].key)
      if (next - home) & (capacity - 1) >= (next - hole) & (capacity - 1) {
        unsafe swap(&slots[hole], &slots[next])
        hole = next
      }
      next = (next + 1) & (capacity &- 1)
    }
    return taken
  }

  /// Returns the index of the slot at which the search for a key starts.
  @inline(__always) private func home(of key: UInt) -> Int {
    Int(truncatingIfNeeded: (UInt64(key) &* 0x9E37_79B9_7F4A_7C15) >> 32) & (capacity &- 1)
  }

  /// Returns the index of a key's slot, or of the free slot at which the search for the key ends.
  @inline(__always) private func index(of key: UInt, in slots: UnsafeMutablePointer<Slot>) -> Int {
    var index = home(of: key)
    while unsafe slots[index].key != key && slots[index].key != 0 { index = (index &+ 1) & (capacity &- 1) }
    return index
  }

  /// Returns the slots, after enlarging the table if one more value would make it more than half full.
  private mutating func slotsWithRoom() -> UnsafeMutablePointer<Slot> {
    if let slots = unsafe slots, 2 * count < capacity { return unsafe slots }
    let (former, formerCapacity) = unsafe (slots, capacity)
    capacity = Swift.max(8, 2 * capacity)
    let larger = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
    for index in 0..<capacity { unsafe (larger + index).initialize(to: Slot(value: nil)) }
    unsafe slots = larger
    guard let former = unsafe former else { return unsafe larger }
    for index in 0..<formerCapacity where unsafe former[index].key != 0 {
      unsafe swap(&larger[self.index(of: former[index].key, in: larger)], &former[index])
    }
    unsafe former.deinitialize(count: formerCapacity)
    unsafe former.deallocate()
    return unsafe larger
  }
}

// `@unchecked Sendable`: the memory belongs to one table, which can't be copied. The compiler's checks of access to the
// table therefore also protect the memory.
extension AddressTable: @unchecked Sendable where Value: Sendable & ~Copyable {}
