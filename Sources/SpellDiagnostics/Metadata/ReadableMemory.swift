/// The addresses of the process that may be read.
///
/// Each pointer that metadata has is looked up here before it is followed, so that metadata that isn't laid out as expected
/// ends a walk and not the program.
final class ReadableMemory {
  /// Sorted by their bounds, which don't touch.
  private let ranges: [Range<UInt>]
  /// The range that was looked up last, which most often is the next one too.
  ///
  /// Unchecked, as one listing on one thread has the object, and the check at run time would cost more than the look.
  @exclusivity(unchecked) private var start: UInt = 0
  @exclusivity(unchecked) private var end: UInt = 0

  init(_ ranges: [Range<UInt>]) {
    var joined: [Range<UInt>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    self.ranges = joined
  }

  /// How many bytes can be read from an address on.
  func count(from address: UInt) -> UInt {
    if address < start || address >= end {
      var (low, high) = (0, ranges.count)
      while low < high {
        let middle = (low + high) / 2
        if ranges[middle].upperBound <= address { low = middle + 1 } else { high = middle }
      }
      guard low < ranges.count, ranges[low].lowerBound <= address else { return 0 }
      (start, end) = (ranges[low].lowerBound, ranges[low].upperBound)
    }
    return end - address
  }

  // Each size has a function of its own: a generic one would take most of the time in a build that isn't optimized, as
  // that of a test is.

  /// The byte at an address; nil if it can't be read.
  func byte(at address: UInt) -> UInt8? {
    count(from: address) >= 1 ? UnsafeRawPointer(bitPattern: address)?.load(as: UInt8.self) : nil
  }

  /// The 16 bits at an address; nil if they can't be read.
  func halfWord(at address: UInt) -> UInt16? {
    count(from: address) >= 2 ? UnsafeRawPointer(bitPattern: address)?.loadUnaligned(as: UInt16.self) : nil
  }

  /// The 32 bits at an address; nil if they can't be read.
  func word(at address: UInt) -> UInt32? {
    count(from: address) >= 4 ? UnsafeRawPointer(bitPattern: address)?.loadUnaligned(as: UInt32.self) : nil
  }

  /// The absolute pointer at an address; nil if it can't be read.
  func pointer(at address: UInt) -> UInt? {
    count(from: address) >= UInt(MemoryLayout<UInt>.size)
      ? UnsafeRawPointer(bitPattern: address)?.loadUnaligned(as: UInt.self) : nil
  }

  /// The address that a relative pointer names: 32 bits, counted from its own address; nil if it names none.
  func target(ofPointerAt address: UInt) -> UInt? {
    guard let offset = word(at: address), offset != 0 else { return nil }
    return address &+ UInt(bitPattern: Int(Int32(bitPattern: offset)))
  }

  /// The same for a relative pointer whose lowest bit says that it leads to an absolute one.
  func target(ofIndirectablePointerAt address: UInt) -> UInt? {
    guard let target = target(ofPointerAt: address) else { return nil }
    return target & 1 == 0 ? target : pointer(at: target & ~1)
  }

  /// The text at an address, up to its null; nil if it can't be read, isn't UTF-8, or is longer than any name.
  func text(at address: UInt) -> String? {
    let limit = Int(clamping: min(count(from: address), 1 << 14))
    let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: limit)
    guard let end = bytes.firstIndex(of: 0) else { return nil }
    return String(validating: UnsafeRawBufferPointer(rebasing: bytes[..<end]), as: UTF8.self)
  }
}

// MARK: Sections

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
