/// The name of a type as metadata has it: text in which descriptors are named by pointers.
struct MangledName {
  let address: UInt
  let count: UInt

  /// The name at an address; nil if it can't be read.
  init?(at address: UInt, in memory: ReadableMemory) {
    // One look at what can be read is for the whole name, as names are all of what is read byte by byte.
    let limit = min(memory.count(from: address), 1 << 16)
    guard limit > 0, let bytes = UnsafePointer<UInt8>(bitPattern: address) else { return nil }
    var count: UInt = 0
    while count < limit {
      let byte = bytes[Int(count)]
      if byte == 0 { break }
      // A byte below 0x20 says that a pointer follows: a relative one, or from 0x18 on an absolute one.
      count += byte >= 0x20 ? 1 : byte < 0x18 ? 5 : 1 + UInt(MemoryLayout<UInt>.size)
    }
    guard count > 0, count < limit else { return nil }
    self.address = address
    self.count = count
  }

  /// The descriptor that a name begins with; nil if it begins with something else.
  static func firstDescriptor(ofNameAt address: UInt, in memory: ReadableMemory) -> ContextDescriptor? {
    switch memory.byte(at: address) {
    case 0x01: memory.target(ofPointerAt: address + 1).map { ContextDescriptor(at: $0) }
    case 0x02:
      memory.target(ofPointerAt: address + 1).flatMap { memory.pointer(at: $0) }.map { ContextDescriptor(at: $0) }
    default: nil
    }
  }

  /// Calls `body` with each name that stands in a section, one after the other, and the descriptor that it begins with.
  static func forEach(
    in section: Range<UInt>, of memory: ReadableMemory, _ body: (MangledName, ContextDescriptor) -> Void
  ) {
    var address = section.lowerBound
    while address < section.upperBound, memory.count(from: address) > 0 {
      guard let name = MangledName(at: address, in: memory) else {
        // Padding between two names.
        address += 1
        continue
      }
      if let descriptor = firstDescriptor(ofNameAt: address, in: memory) { body(name, descriptor) }
      address += name.count + 1
    }
  }

  /// Whether the whole name is that of the type whose descriptor it begins with: nothing more, or the type's arguments
  /// between `y` and `G`.
  func isWhole(in memory: ReadableMemory) -> Bool {
    count == 5
      || count > 6 && memory.byte(at: address + 5) == UInt8(ascii: "y")
        && memory.byte(at: address + count - 1) == UInt8(ascii: "G")
  }

  /// The type, as the runtime finds it; nil for one that depends on what a generic type is given.
  var type: (any Any.Type)? {
    UnsafePointer<UInt8>(bitPattern: address).flatMap { name in
      _getTypeByMangledNameInContext(name, count, genericContext: nil, genericArguments: nil)
    }
  }
}
