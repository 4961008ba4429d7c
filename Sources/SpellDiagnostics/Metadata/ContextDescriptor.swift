// The layouts are those of the stable ABI (`docs/ABI/TypeMetadata.rst` and `include/swift/ABI/Metadata.h` of Swift), as the
// runtime reads them.

extension UnsafeRawPointer {
  /// The address that a relative pointer here names: 32 bits, counted from its own address; nil if it names none.
  var target: UnsafeRawPointer? {
    let offset = loadUnaligned(as: Int32.self)
    return offset == 0 ? nil : self + Int(offset)
  }

  /// The same for a relative pointer whose lowest bit says that it leads to an absolute one.
  var indirectableTarget: UnsafeRawPointer? {
    guard let target, UInt(bitPattern: target) & 1 == 1 else { return target }
    return (target - 1).loadUnaligned(as: UnsafeRawPointer?.self)
  }

  /// The text at the address that a relative pointer here names.
  fileprivate var text: String { target.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? "" }
}

/// The compiler's description of a type, or of what types are declared in.
///
/// Each field has 32 bits: flags, a pointer to the parent, one to the name; for types then the accessor of the metadata,
/// and a pointer to the fields' descriptor.
struct ContextDescriptor: Hashable {
  enum Kind: UInt32 {
    case `class` = 16
    case `struct` = 17
  }

  let address: UnsafeRawPointer

  init(at address: UnsafeRawPointer) { self.address = address }

  /// The address of a protocol's descriptor, from the metadata that the runtime has made for its values: kind, flags, the
  /// number of protocols, then the protocols.
  static func address(ofProtocol type: any Any.Type) -> UnsafeRawPointer? {
    let metadata = unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    // The lowest bit is Objective-C's mark.
    return UnsafeRawPointer(bitPattern: metadata[2] & ~1)
  }

  private var flags: UInt32 { address.load(as: UInt32.self) }
  /// Whether the type is a class or a struct; nil for everything else.
  var kind: Kind? { Kind(rawValue: flags & 0x1F) }
  /// Whether the type, or one that it is declared in, has generic parameters.
  var isGeneric: Bool { flags & 0x80 != 0 }
  var parent: ContextDescriptor? { (address + 4).indirectableTarget.map { ContextDescriptor(at: $0) } }
  /// The name of a type, a protocol or a module.
  var name: String { (address + 8).text }
  /// The stored properties of a class or a struct; nil if the program was built without reflection metadata.
  var fields: FieldDescriptor? { (address + 16).target.map { FieldDescriptor(address: $0) } }
}

/// The stored properties that a type declares, as reflection shows them: the type's name, its superclass's, 16 bits each of
/// kind and of a record's size, 32 of the number of records, then the records.
struct FieldDescriptor {
  struct Field {
    let label: String
    let type: MangledName
    let descriptor: ContextDescriptor
  }

  let address: UnsafeRawPointer

  /// The name of the type that has the fields.
  var type: MangledName? { address.target.map { MangledName(at: $0) } }

  /// The fields whose type is one of some, whatever its arguments are.
  ///
  /// A record has 32 bits each of flags, of a pointer to the mangled name of the type, and of one to the label.
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

/// The name of a type as metadata has it: text in which descriptors are named by pointers.
struct MangledName {
  let address: UnsafeRawPointer
  let count: Int

  /// - Parameter limit: How many bytes may be read.
  init(at address: UnsafeRawPointer, limit: Int = .max) {
    self.address = address
    var count = 0
    while count < limit, case let byte = address.load(fromByteOffset: count, as: UInt8.self), byte != 0 {
      // A byte below 0x20 says that a pointer follows: a relative one, or from 0x18 on an absolute one.
      count += byte >= 0x20 ? 1 : byte < 0x18 ? 5 : 1 + MemoryLayout<UInt>.size
    }
    self.count = min(count, limit)
  }

  /// The descriptor that a name begins with; nil if it begins with something else.
  static func firstDescriptor(ofNameAt address: UnsafeRawPointer) -> ContextDescriptor? {
    let target: UnsafeRawPointer? =
      switch address.load(as: UInt8.self) {
      case 0x01: (address + 1).target
      case 0x02: (address + 1).target?.loadUnaligned(as: UnsafeRawPointer?.self)
      default: nil
      }
    return target.map { ContextDescriptor(at: $0) }
  }

  /// Calls `body` with each name that stands in a section, one after the other.
  static func forEach(in section: UnsafeRawBufferPointer, _ body: (MangledName) -> Void) {
    guard let start = section.baseAddress else { return }
    var offset = 0
    while offset < section.count {
      let name = MangledName(at: start + offset, limit: section.count - offset)
      body(name)
      offset += name.count + 1
    }
  }

  /// Whether the name begins with a descriptor, whose arguments between `y` and `G` are all that follows.
  var hasArguments: Bool { count > 6 && byte(5) == UInt8(ascii: "y") && byte(count - 1) == UInt8(ascii: "G") }

  private func byte(_ offset: Int) -> UInt8 { address.load(fromByteOffset: offset, as: UInt8.self) }

  /// The type, as the runtime finds it; nil for one that depends on what a generic type is given.
  var type: (any Any.Type)? {
    _getTypeByMangledNameInContext(
      address.assumingMemoryBound(to: UInt8.self), UInt(count), genericContext: nil, genericArguments: nil)
  }
}
