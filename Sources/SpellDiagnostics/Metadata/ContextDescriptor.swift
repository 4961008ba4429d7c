// The layouts follow the stable ABI that the runtime reads; see `docs/ABI/TypeMetadata.rst` and
// `include/swift/ABI/Metadata.h` of Swift.

extension UnsafeRawPointer {
  /// The target of the 32-bit relative pointer at this address; nil if the pointer is null.
  var target: UnsafeRawPointer? {
    let offset = loadUnaligned(as: Int32.self)
    return offset == 0 ? nil : self + Int(offset)
  }

  /// The target of the relative pointer at this address, which may be indirect.
  ///
  /// If bit 0 of the pointer is set, the pointer leads to an absolute pointer, which leads to the target.
  var indirectableTarget: UnsafeRawPointer? {
    guard let target, UInt(bitPattern: target) & 1 == 1 else { return target }
    return (target - 1).loadUnaligned(as: UnsafeRawPointer?.self)
  }

  /// The text at the target of a relative pointer at this address; empty if the pointer is null.
  fileprivate var text: String { target.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? "" }
}

/// The compiler's description of a type, or of a module or other context in which types are declared.
///
/// It consists of 32-bit fields. The first two are the flags and a relative pointer to the parent. For a type, a
/// protocol or a module, a relative pointer to the name follows. For a class or a struct, two more relative pointers
/// follow: to the metadata accessor, and to the descriptor of the fields.
struct ContextDescriptor: Hashable {
  enum Kind: UInt32 {
    case `class` = 16
    case `struct` = 17
  }

  let address: UnsafeRawPointer

  init(at address: UnsafeRawPointer) { self.address = address }

  /// Returns the address of a protocol's descriptor, from the metadata of the protocol's existential type.
  ///
  /// The metadata begins with a word for the kind, 32 bits for the flags, and 32 bits for the number of protocols. For
  /// a protocol without a superclass, the pointer to the protocol's descriptor follows.
  static func address(ofProtocol type: any Any.Type) -> UnsafeRawPointer? {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    let pointer = (metadata + MemoryLayout<UInt>.size + 8).load(as: UInt.self)
    // The lowest bit isn't part of the pointer, but marks a protocol of Objective-C.
    return UnsafeRawPointer(bitPattern: pointer & ~1)
  }

  private var flags: UInt32 { address.load(as: UInt32.self) }
  /// The kind of the type if it is a class or a struct; nil for everything else.
  var kind: Kind? { Kind(rawValue: flags & 0x1F) }
  /// Whether the type, or a type that encloses it, has generic parameters.
  var isGeneric: Bool { flags & 0x80 != 0 }
  var parent: ContextDescriptor? { (address + 4).indirectableTarget.map { ContextDescriptor(at: $0) } }
  /// The name of a type, a protocol or a module.
  var name: String { (address + 8).text }
  /// The stored properties of a class or a struct; nil if the program was built without reflection metadata.
  var fields: FieldDescriptor? { (address + 16).target.map { FieldDescriptor(address: $0) } }
}

/// The descriptor of a type's stored properties, which reflection uses.
///
/// It begins with two 32-bit relative pointers to the names of the type and the superclass. Two 16-bit numbers follow:
/// the kind of descriptor, and the size of a record. Then come the 32-bit number of records, and the records.
struct FieldDescriptor {
  struct Field {
    let label: String
    let type: MangledName
    let descriptor: ContextDescriptor
  }

  let address: UnsafeRawPointer

  /// The mangled name of the type that has the fields.
  var type: MangledName? { address.target.map { MangledName(at: $0) } }

  /// Returns the fields whose types have one of the given descriptors, with any generic arguments.
  ///
  /// A record consists of three 32-bit fields: the flags, a relative pointer to the mangled name of the field's type,
  /// and a relative pointer to the label.
  func fields(ofTypes descriptors: Set<ContextDescriptor>) -> [Field] {
    let size = Int((address + 10).load(as: UInt16.self))
    return (0..<Int((address + 12).load(as: UInt32.self))).compactMap { index in
      let record = address + 16 + index * size
      guard let name = (record + 4).target, let descriptor = MangledName.firstDescriptor(ofNameAt: name),
        descriptors.contains(descriptor)
      else { return nil }
      let (type, label) = (MangledName(at: name), (record + 8).text)
      return (type.count == 5 || type.hasArguments) && !label.isEmpty
        ? Field(label: label, type: type, descriptor: descriptor) : nil
    }
  }
}

/// The mangled name of a type in metadata: text in which pointers stand for descriptors.
struct MangledName {
  let address: UnsafeRawPointer
  let count: Int

  /// - Parameter limit: The maximum number of bytes to read.
  init(at address: UnsafeRawPointer, limit: Int = .max) {
    self.address = address
    var count = 0
    while count < limit, case let byte = address.load(fromByteOffset: count, as: UInt8.self), byte != 0 {
      // A byte from 0x01 to 0x17 precedes a 32-bit relative pointer, and a byte from 0x18 to 0x1F an absolute pointer.
      count += byte >= 0x20 ? 1 : byte < 0x18 ? 5 : 1 + MemoryLayout<UInt>.size
    }
    self.count = min(count, limit)
  }

  /// Returns the descriptor that a name begins with, or nil if the name begins with something else.
  static func firstDescriptor(ofNameAt address: UnsafeRawPointer) -> ContextDescriptor? {
    let target: UnsafeRawPointer? =
      switch address.load(as: UInt8.self) {
      case 0x01: (address + 1).target
      case 0x02: (address + 1).target?.loadUnaligned(as: UnsafeRawPointer?.self)
      default: nil
      }
    return target.map { ContextDescriptor(at: $0) }
  }

  /// Calls `body` with each name in a section, in order.
  static func forEach(in section: UnsafeRawBufferPointer, _ body: (MangledName) -> Void) {
    guard let start = section.baseAddress else { return }
    var offset = 0
    while offset < section.count {
      let name = MangledName(at: start + offset, limit: section.count - offset)
      body(name)
      offset += name.count + 1
    }
  }

  /// Whether the name consists of a descriptor and its generic arguments, which are between `y` and `G`.
  var hasArguments: Bool { count > 6 && byte(5) == UInt8(ascii: "y") && byte(count - 1) == UInt8(ascii: "G") }

  private func byte(_ offset: Int) -> UInt8 { address.load(fromByteOffset: offset, as: UInt8.self) }

  /// The type that the runtime finds for the name; nil if the name depends on the arguments of a generic type.
  var type: (any Any.Type)? {
    _getTypeByMangledNameInContext(
      address.assumingMemoryBound(to: UInt8.self), UInt(count), genericContext: nil, genericArguments: nil)
  }
}
