/// The compiler's description of a type, or of what types are declared in.
///
/// The layout is that of the stable ABI (`docs/ABI/TypeMetadata.rst` and `include/swift/ABI/Metadata.h` of Swift). Each field
/// has 32 bits: flags, a pointer to the parent, one to the name; for types then the accessor of the metadata, and a pointer
/// to the fields' descriptor.
struct ContextDescriptor: Hashable {
  enum Kind: UInt32 {
    case `class` = 16
    case `struct` = 17
  }

  let address: UInt

  init(at address: UInt) { self.address = address }

  /// The descriptor of a protocol, from the metadata that the runtime has made for its values: kind, flags, the number of
  /// protocols, then the protocols.
  init(ofProtocol type: any Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    // The lowest bit is Objective-C's mark.
    address = metadata.load(fromByteOffset: 2 * MemoryLayout<UInt>.size, as: UInt.self) & ~1
  }

  /// Whether the type is a class or a struct; nil for everything else.
  func kind(in memory: ReadableMemory) -> Kind? { flags(in: memory).flatMap { Kind(rawValue: $0 & 0x1F) } }

  /// Whether the type, or one that it is declared in, has generic parameters.
  func isGeneric(in memory: ReadableMemory) -> Bool { flags(in: memory).map { $0 & 0x80 != 0 } ?? false }

  func parent(in memory: ReadableMemory) -> ContextDescriptor? {
    memory.target(ofIndirectablePointerAt: address + 4).map { ContextDescriptor(at: $0) }
  }

  /// The name of a type, a protocol or a module.
  func name(in memory: ReadableMemory) -> String? {
    memory.target(ofPointerAt: address + 8).flatMap { memory.text(at: $0) }
  }

  /// The stored properties of a class or a struct; nil if the program was built without reflection metadata.
  func fields(in memory: ReadableMemory) -> FieldDescriptor? {
    memory.target(ofPointerAt: address + 16).flatMap { FieldDescriptor(at: $0, in: memory) }
  }

  private func flags(in memory: ReadableMemory) -> UInt32? { memory.word(at: address) }
}

/// The stored properties that a type declares, as reflection shows them: the type's name, its superclass's, 16 bits each of
/// kind and of a record's size, 32 of the number of records, then the records.
struct FieldDescriptor {
  struct Field {
    let label: String
    let type: MangledName
    let descriptor: ContextDescriptor
  }

  private let address: UInt
  private let recordSize: UInt
  private let count: UInt

  init?(at address: UInt, in memory: ReadableMemory) {
    guard let recordSize = memory.halfWord(at: address + 10), recordSize >= 12,
      let count = memory.word(at: address + 12)
    else { return nil }
    self.address = address
    self.recordSize = UInt(recordSize)
    self.count = UInt(min(count, 1 << 16))
  }

  /// The name of the type that has the fields.
  func type(in memory: ReadableMemory) -> MangledName? {
    memory.target(ofPointerAt: address).flatMap { MangledName(at: $0, in: memory) }
  }

  /// The fields whose type is one of some, whatever its arguments are.
  ///
  /// A record has 32 bits each of flags, of a pointer to the mangled name of the type, and of one to the label.
  func fields(ofTypes descriptors: Set<ContextDescriptor>, in memory: ReadableMemory) -> [Field] {
    var found: [Field] = []
    var record = address &+ 16
    for _ in 0..<count {
      // The end of what can be read is the end of a list whose count is wrong.
      guard memory.count(from: record) >= 12 else { break }
      if let name = memory.target(ofPointerAt: record + 4),
        let descriptor = MangledName.firstDescriptor(ofNameAt: name, in: memory), descriptors.contains(descriptor),
        let type = MangledName(at: name, in: memory), type.isWhole(in: memory),
        let label = memory.target(ofPointerAt: record + 8).flatMap({ memory.text(at: $0) }), !label.isEmpty
      {
        found.append(Field(label: label, type: type, descriptor: descriptor))
      }
      record = record &+ recordSize
    }
    return found
  }
}

// MARK: Names

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
