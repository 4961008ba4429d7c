@testable import SpellDiagnostics
import SpellRegistry
import TestSupport
import Testing

@Suite("Metadata") struct MetadataTests {
  @Test("is read as the compiler lays it out")
  func layout() throws {
    let image = Image()
    let listing = image.listing(image.memory())
    let property = try #require(listing.properties.first)
    #expect(listing.properties.count == 1)
    #expect(property.description == "Sample<Swift.Int>.title" && property.wrapper == "Wrapper")
    #expect(property.module == "SpellDiagnosticsTests")
    #expect(ObjectIdentifier(property.valueType) == ObjectIdentifier(Int.self))
  }

  @Test("that is cut off anywhere ends the list, and not the program")
  func truncated() {
    let image = Image()
    let counts = (0...512).map { image.listing(image.memory($0)).properties.count }
    #expect(counts.first == 0 && counts.last == 1 && Set(counts) == [0, 1])
  }

  @Test("with any byte changed gives a list, or none")
  func damaged() {
    let image = Image()
    let memory = image.memory()
    var changed = 0
    for index in image.bytes.indices {
      let intact = image.bytes[index]
      for value in [0, 1, 0x7F, 0x80, 0xFE, 0xFF, intact &+ 1, intact ^ 0x10] {
        image.bytes[index] = value
        let listing = image.listing(memory)
        if listing.properties.first?.description != "Sample<Swift.Int>.title" { changed += 1 }
      }
      image.bytes[index] = intact
    }
    #expect(changed > 100)
    #expect(image.listing(memory).properties.count == 1)
  }

  @Test("of random bytes gives a list, or none")
  func random() {
    var generator = SplitMix(seed: 15)
    for _ in 0..<2_000 {
      let image = Image()
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        image.bytes[Int.random(in: 0..<512, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      #expect(image.listing(image.memory()).properties.count <= 1)
    }
  }

  @Test("a list that the count of records makes too long ends where memory does")
  func endless() {
    let image = Image()
    let pattern: [UInt8] = [0, 0, 12, 0, 1, 0, 0, 0]
    let place = image.bytes.indices.first { index in
      index + 8 <= 512 && image.bytes[index..<(index + 8)].elementsEqual(pattern)
    }
    for index in 4..<8 { image.bytes[(place ?? 0) + index] = 0xFF }
    #expect(place != nil)
    #expect(image.listing(image.memory()).properties.first?.description == "Sample<Swift.Int>.title")
  }
}

@Suite("Readable memory") struct ReadableMemoryTests {
  @Test("has the bytes up to the end of a range, and of what touches it")
  func ranges() {
    let memory = ReadableMemory([100..<200, 16..<32, 200..<300, 40..<40])
    #expect([15, 16, 31, 32, 40, 99, 150, 299, 300, .max].map(memory.count) == [0, 16, 1, 0, 0, 0, 150, 1, 0, 0])
    #expect(memory.byte(at: 15) == nil && memory.word(at: 29) == nil && memory.pointer(at: 25) == nil)
  }

  @Test("of the process has this test's code and the heap, and no page at zero")
  func process() throws {
    try #require(WrappedProperty.isSupported)
    let memory = LoadedImages.readableMemory()
    #expect(memory.byte(at: 0) == nil)
    let name: StaticString = "a name in the image"
    #expect(memory.text(at: UInt(bitPattern: name.utf8Start)) == "a name in the image")
  }
}
