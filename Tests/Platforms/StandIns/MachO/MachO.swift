// The names are Apple's.
// swift-format-ignore-file

// The functions of the dynamic linker that SpellDiagnostics calls on Apple platforms. Here, the list of images is
// empty.

public typealias cpu_type_t = Int32

public struct mach_header {
  public var magic: UInt32 = 0
  public var ncmds: UInt32 = 0
}
public struct mach_header_64 {
  public var magic: UInt32 = 0
  public var cputype: cpu_type_t = 0
  public var cpusubtype: Int32 = 0
  public var filetype: UInt32 = 0
  public var ncmds: UInt32 = 0
  public var sizeofcmds: UInt32 = 0
  public var flags: UInt32 = 0
  public var reserved: UInt32 = 0
}
public let MH_MAGIC_64: UInt32 = 0xfeed_facf

public func _dyld_image_count() -> UInt32 { 0 }
public func _dyld_get_image_header(_ index: UInt32) -> UnsafePointer<mach_header>! { nil }
public func getsectiondata(
  _ header: UnsafePointer<mach_header_64>!, _ segment: UnsafePointer<CChar>!, _ section: UnsafePointer<CChar>!,
  _ size: UnsafeMutablePointer<UInt>!
) -> UnsafeMutablePointer<UInt8>! { nil }
