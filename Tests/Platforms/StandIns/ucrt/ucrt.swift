// The names are Microsoft's.
// swift-format-ignore-file

// The functions of Windows's C library that Spellbook calls.

internal import Glibc

public func getenv(_ name: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { Glibc.getenv(name) }
public func memcmp(_ one: UnsafeRawPointer!, _ other: UnsafeRawPointer!, _ count: Int) -> Int32 {
  Glibc.memcmp(one, other, count)
}
@discardableResult
public func _write(_ file: Int32, _ buffer: UnsafeRawPointer!, _ count: UInt32) -> Int32 {
  Int32(Glibc.write(file, buffer, Int(count)))
}
public func exit(_ status: Int32) -> Never { Glibc.exit(status) }
