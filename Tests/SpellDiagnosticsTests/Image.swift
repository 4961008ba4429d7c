@testable import SpellDiagnostics
import SpellRegistry

/// An image's metadata for one class with one wrapped property, laid out as the compiler lays it out.
struct Image: ~Copyable {
  let bytes: UnsafeMutableRawBufferPointer
  private var end = 0
  private(set) var sections: [MetadataSections] = []

  init() {
    bytes = .allocate(byteCount: 512, alignment: 8)
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    let module = appendWords([0, 0, 0])
    let wrapper = appendWords([17, 0, 0, 0, 0, 0, 0])
    let type = appendWords([16, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0])
    let fields = appendWords([0, 0, 12 << 16, 1, 0, 0, 0])
    let conformance = appendWords([0, 0, 0, 0])
    for (descriptor, name) in [(module, "App"), (wrapper, "Wrapper"), (type, "Page")] {
      point(from: descriptor + 8, to: appendText(name))
    }
    point(from: wrapper + 4, to: module)
    point(from: type + 4, to: module)
    point(from: type + 16, to: fields)
    point(from: fields, to: appendName(of: type))
    point(from: fields + 20, to: appendName(of: wrapper))
    point(from: fields + 24, to: appendText("_title"))
    let `protocol` = append(ContextDescriptor(ofProtocol: (any NamedProperty).self).address, alignment: 8)
    point(from: conformance, to: `protocol` + 1)
    point(from: conformance + 4, to: wrapper)
    let types = appendWords([0])
    point(from: types, to: type)
    let conformances = appendWords([0])
    point(from: conformances, to: conformance)
    sections = [
      MetadataSections(
        types: address(types)..<address(types + 4), conformances: address(conformances)..<address(conformances + 4),
        typeNames: 0..<0)
    ]
  }

  deinit { bytes.deallocate() }

  /// What may be read: the image, or a part of it.
  func memory(_ count: Int = 512) -> ReadableMemory { ReadableMemory([address(0)..<address(count)]) }

  func listing(_ memory: ReadableMemory) -> ProgramListing {
    ProgramListing(ofModules: [], in: sections, memory) { _ in Sample<Int>.self }
  }

  private func address(_ offset: Int) -> UInt { UInt(bitPattern: bytes.baseAddress) + UInt(offset) }

  private mutating func append<Value: BitwiseCopyable>(_ value: Value, alignment: Int = 1) -> Int {
    end = (end + alignment - 1) / alignment * alignment
    defer { end += MemoryLayout<Value>.size }
    bytes.storeBytes(of: value, toByteOffset: end, as: Value.self)
    return end
  }

  private mutating func appendWords(_ words: [UInt32]) -> Int {
    let start = append(words[0], alignment: 4)
    for word in words.dropFirst() { _ = append(word) }
    return start
  }

  private mutating func appendText(_ text: String) -> Int {
    let start = end
    for byte in Array(text.utf8) + [0] { _ = append(byte) }
    return start
  }

  /// A mangled name that is a pointer to a descriptor.
  private mutating func appendName(of descriptor: Int) -> Int {
    let start = append(UInt8(1))
    let pointer = append(Int32(0))
    point(from: pointer, to: descriptor)
    _ = append(UInt8(0))
    return start
  }

  private func point(from place: Int, to target: Int) {
    bytes.storeBytes(of: Int32(target - place), toByteOffset: place, as: Int32.self)
  }
}

/// What the image's wrapper is for the runtime.
struct Sample<Value>: NamedProperty {
  let identity: PropertyIdentity
}
