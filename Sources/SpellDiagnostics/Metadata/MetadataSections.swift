/// The locations of the metadata in a loaded image, which is a program or a library.
struct MetadataSections {
  /// The relative pointers to the descriptors of the types that the image declares.
  let types: UnsafeRawBufferPointer
  /// The relative pointers to the descriptors of the protocol conformances that the image declares.
  let conformances: UnsafeRawBufferPointer
  /// The mangled names of the types that the image mentions.
  let typeNames: UnsafeRawBufferPointer

  /// The descriptors of all structs and classes that the image declares.
  ///
  /// Each record of `types` is a relative pointer, whose two lowest bits tell the kind of the pointer. A pointer of
  /// kind 0 leads to a descriptor. A pointer of kind 1 leads to an absolute pointer to a descriptor.
  var declaredTypes: [ContextDescriptor] {
    Self.records(types).compactMap { record in
      let offset = record.load(as: Int32.self)
      let target = record + Int(offset & ~3)
      guard offset & 3 < 2, let address = offset & 3 == 0 ? target : target.load(as: UnsafeRawPointer?.self) else {
        return nil
      }
      let descriptor = ContextDescriptor(at: address)
      return descriptor.kind == nil ? nil : descriptor
    }
  }

  /// Returns the descriptors of the types that conform to the protocol whose descriptor is at the given address.
  ///
  /// A conformance begins with four 32-bit fields: relative pointers to the protocol, to the type and to the witness
  /// table, and the flags. Bits 3 to 5 of the flags are the kind of the pointer to the type. Kind 0 leads to the type's
  /// descriptor, and kind 1 leads to an absolute pointer to this descriptor.
  func types(conformingTo wanted: UnsafeRawPointer?) -> [ContextDescriptor] {
    Self.records(conformances).compactMap { record in
      guard let conformance = record.target, conformance.indirectableTarget == wanted,
        let target = (conformance + 4).target
      else { return nil }
      switch (conformance + 12).load(as: UInt32.self) >> 3 & 7 {
      case 0: return ContextDescriptor(at: target)
      case 1: return target.load(as: UnsafeRawPointer?.self).map { ContextDescriptor(at: $0) }
      default: return nil
      }
    }
  }

  /// Returns the addresses of a section's records, which have 32 bits each.
  private static func records(_ section: UnsafeRawBufferPointer) -> [UnsafeRawPointer] {
    guard let start = section.baseAddress else { return [] }
    return stride(from: 0, to: section.count, by: 4).map { start + $0 }
  }
}
