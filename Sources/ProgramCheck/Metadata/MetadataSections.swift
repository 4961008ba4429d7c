/// Where a loaded image has its metadata.
struct MetadataSections: Sendable {
  /// Pointers to the descriptors of its types.
  let types: Range<UInt>
  /// Pointers to the descriptors of its types' conformances to protocols.
  let conformances: Range<UInt>
  /// The mangled names of the types that it mentions.
  let typeNames: Range<UInt>

  /// The descriptors of all structs and classes.
  ///
  /// A record is a relative pointer; its two lowest bits say whether it leads to the descriptor or to a pointer to it.
  func declaredTypes(in memory: ReadableMemory) -> [ContextDescriptor] {
    var descriptors: [ContextDescriptor] = []
    for record in records(types, in: memory) {
      guard let offset = memory.word(at: record) else { break }
      let target = record &+ UInt(bitPattern: Int(Int32(bitPattern: offset & ~3)))
      guard offset & 3 < 2, let address = offset & 3 == 0 ? target : memory.pointer(at: target) else { continue }
      let descriptor = ContextDescriptor(at: address)
      switch descriptor.kind(in: memory) {
      case .class, .struct: descriptors.append(descriptor)
      default: break
      }
    }
    return descriptors
  }

  /// The descriptors of the types that conform to a protocol.
  ///
  /// A conformance has 32 bits each of a pointer to the protocol, of one to the type, of one to the table of witnesses, and
  /// of flags, whose bits 3 to 5 say what the pointer to the type is.
  func types(conformingTo wanted: ContextDescriptor, in memory: ReadableMemory) -> [ContextDescriptor] {
    var descriptors: [ContextDescriptor] = []
    for record in records(conformances, in: memory) {
      guard let conformance = memory.target(ofPointerAt: record),
        memory.target(ofIndirectablePointerAt: conformance) == wanted.address,
        let target = memory.target(ofPointerAt: conformance + 4), let flags = memory.word(at: conformance + 12)
      else { continue }
      switch flags >> 3 & 7 {
      case 0: descriptors.append(ContextDescriptor(at: target))
      case 1: if let address = memory.pointer(at: target) { descriptors.append(ContextDescriptor(at: address)) }
      default: break
      }
    }
    return descriptors
  }

  /// The addresses of a section's records, of 32 bits each.
  private func records(_ section: Range<UInt>, in memory: ReadableMemory) -> StrideTo<UInt> {
    let isReadable = memory.count(from: section.lowerBound) >= UInt(section.count)
    return stride(from: section.lowerBound, to: isReadable ? section.upperBound : section.lowerBound, by: 4)
  }
}
