internal import Support

/// Linux's table of locks, `/proc/locks`, a line for each: `1: FLOCK  ADVISORY  WRITE 4242 08:01:131073 0 EOF`.
enum LockTable {
  /// The processes that hold a lock of the file, not those that wait for one, whose lines have an arrow.
  static func holders(of file: FileIdentity, in table: String) -> [Int32] {
    table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count >= 6, fields[1] == "FLOCK" else { return nil }
      let place = fields[5].split(separator: ":")
      guard place.count == 3, UInt64(place[2]) == file.inode, let major = UInt64(place[0], radix: 16),
        let minor = UInt64(place[1], radix: 16), FileIdentity.device(major, minor) == file.device
      else { return nil }
      return Int32(fields[4])
    }
  }
}

extension FileIdentity {
  /// The number of a device as `stat` gives it on Linux.
  static func device(_ major: UInt64, _ minor: UInt64) -> UInt64 {
    (major & 0xfff) << 8 | (major & ~0xfff) << 32 | (minor & 0xff) | (minor & ~0xff) << 12
  }
}

extension PosixFileSystem {
  package func lockHolder(of file: FileIdentity) -> String? {
    guard let table = readSmallFile("/proc/locks"),
      let process = LockTable.holders(of: file, in: table).first(where: { $0 > 0 })
    else { return nil }
    if process == getpid() { return "this process" }
    let name = readSmallFile(FilePath("/proc/\(process)/comm"))?.split(separator: "\n").first ?? "?"
    // The state follows the name, which is in parentheses and may have some of its own.
    let state = readSmallFile(FilePath("/proc/\(process)/stat"))?.split(separator: ")").last?.split(separator: " ")
      .first
    return "process \(process) (\(name))"
      + (state == "T" ? ", which is stopped: continue it with kill -CONT \(process), or end it" : "")
  }
}

/// What is in a file of the system's that has no size; nil where there is none.
func readSmallFile(_ path: FilePath) -> String? {
  do throws(SystemError) {
    let system = PosixFileSystem()
    let file = Descriptor(try system.open(path, for: .reading), of: system)
    var bytes: [UInt8] = []
    while true {
      let more = try file.read(from: bytes.count, to: bytes.count + 1 << 16)
      if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += more
    }
  } catch {
    return nil
  }
}
