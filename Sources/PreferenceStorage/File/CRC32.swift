/// The checksum of zlib, PNG and Ethernet, eight bytes at a time.
enum CRC32 {
  /// Eight tables of 256: the table k tells what a byte does that k more bytes come after.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var value = UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xedb8_8320 }
      tables[byte] = value
    }
    for index in 256..<tables.count {
      let value = tables[index - 256]
      tables[index] = value >> 8 ^ tables[Int(value & 0xff)]
    }
    return tables
  }()

  static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    tables.withUnsafeBufferPointer { table in
      var crc: UInt32 = ~0
      var index = 0
      while index + 8 <= bytes.count {
        let low = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)) ^ crc
        let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self))
        let first = table[1792 + Int(low & 0xff)] ^ table[1536 + Int(low >> 8 & 0xff)]
        let second = table[1280 + Int(low >> 16 & 0xff)] ^ table[1024 + Int(low >> 24)]
        let third = table[768 + Int(high & 0xff)] ^ table[512 + Int(high >> 8 & 0xff)]
        let fourth = table[256 + Int(high >> 16 & 0xff)] ^ table[Int(high >> 24)]
        crc = first ^ second ^ third ^ fourth
        index += 8
      }
      while index < bytes.count {
        crc = crc >> 8 ^ table[Int((crc ^ UInt32(bytes[index])) & 0xff)]
        index += 1
      }
      return ~crc
    }
  }
}
