import Synchronization
import TestSupport

@testable import PreferenceStorage

/// A disk in memory that records which bytes were synchronized, so that a test can cut its power.
///
/// Names change in order, as with a journal. Bytes that weren't synchronized may become anything. Synchronized bytes
/// stay as they are, even if new bytes share their sector (SQLite's "powersafe overwrite").
///
/// `@unchecked Sendable`: the lock `state` guards everything that changes.
final class SimulatedDisk: FileSystem, @unchecked Sendable {
  struct File: Sendable {
    var bytes: [UInt8] = []
    var synced: [UInt8] = []
    /// Whether a synchronization failed, after which the kernel considers the lost bytes written.
    var isBroken = false
  }

  enum NameChange: Sendable {
    case made(FilePath, Int)
    case renamed(FilePath, FilePath)
    case removed(FilePath)

    func apply(to names: inout [FilePath: Int]) {
      switch self {
      case .made(let path, let inode): names[path] = inode
      case .renamed(let path, let newPath): names[newPath] = names.removeValue(forKey: path)
      case .removed(let path): names[path] = nil
      }
    }
  }

  private struct State: Sendable {
    var files: [Int: File] = [:]
    var names: [FilePath: Int] = [:]
    var syncedNames: [FilePath: Int] = [:]
    var pendingNames: [NameChange] = []
    var open: [Int32: Int] = [:]
    var nextFile = 1
    var nextDescriptor: Int32 = 100
    var changes = 0
    var limit = Int.max
    var failingSyncs = 0
    var isFull = false
    var maximumLength = Int.max
    /// The path of a file whose name no other file can take, as if the file were mounted by itself.
    var fixedPath: FilePath?

    /// Counts a change of the disk; throws if the power was cut.
    mutating func willChange(_ call: String) throws(SystemError) {
      if changes == limit { throw SystemError(call, 5) }
      changes += 1
    }

    func inode(_ descriptor: Int32) throws(SystemError) -> Int {
      guard let inode = open[descriptor] else { throw SystemError("descriptor", 9) }
      return inode
    }
  }

  private let state: Mutex<State>

  /// Creates an empty disk whose power is cut after a number of changes, and on which one file can't be replaced.
  init(powerFor limit: Int = .max, fixing fixedPath: FilePath? = nil) {
    var state = State()
    (state.limit, state.fixedPath) = (limit, fixedPath)
    self.state = Mutex(state)
  }

  /// Creates a disk with one file, which can be made irreplaceable.
  convenience init(_ bytes: [UInt8], at path: FilePath, isFixed: Bool = false) {
    self.init(files: [1: File(bytes: bytes, synced: bytes)], names: [path: 1], fixing: isFixed ? path : nil)
  }

  private init(files: [Int: File], names: [FilePath: Int], fixing fixedPath: FilePath? = nil) {
    var state = State()
    state.fixedPath = fixedPath
    state.files = files
    state.names = names
    state.syncedNames = names
    state.nextFile = (files.keys.max() ?? 0) + 1
    self.state = Mutex(state)
  }

  var changeCount: Int { state.withLock { $0.changes } }
  var names: [FilePath] { state.withLock { Array($0.names.keys) } }

  /// Lets the next synchronizations of a file fail; later ones of that file only seem to succeed.
  func failSyncs(_ count: Int) { state.withLock { $0.failingSyncs = count } }

  /// Sets whether there is no room for new files, and the length beyond which no file can grow.
  func setFull(_ isFull: Bool, forFilesAbove length: Int = .max) {
    state.withLock { ($0.isFull, $0.maximumLength) = (isFull, length) }
  }

  func contents(of path: FilePath) -> [UInt8]? {
    state.withLock { state in state.names[path].flatMap { state.files[$0]?.bytes } }
  }

  /// Returns another disk with the same files.
  func snapshot() -> SimulatedDisk {
    let state = state.withLock { $0 }
    return SimulatedDisk(files: state.files, names: state.names)
  }

  /// Returns the disk after the power was cut.
  func afterPowerFailure(using random: inout SplitMix) -> SimulatedDisk {
    let state = state.withLock { $0 }
    var names = state.syncedNames
    for change in state.pendingNames.prefix(Int(random.below(UInt64(state.pendingNames.count + 1)))) {
      change.apply(to: &names)
    }
    var files: [Int: File] = [:]
    for inode in names.values {
      guard let file = state.files[inode] else { continue }
      let bytes = SimulatedDisk.remains(of: file, using: &random)
      files[inode] = File(bytes: bytes, synced: bytes)
    }
    return SimulatedDisk(files: files, names: names)
  }

  private static func remains(of file: File, using random: inout SplitMix) -> [UInt8] {
    if file.bytes == file.synced { return file.bytes }
    let lengths = [file.bytes.count, file.synced.count]
    let length =
      random.below(2) == 0
      ? lengths[Int(random.below(2))]
      : lengths.min()! + Int(random.below(UInt64(abs(lengths[0] - lengths[1]) + 1)))
    var remains = [UInt8](repeating: 0, count: length)
    for start in stride(from: 0, to: length, by: 512) {
      let fate = random.below(4)
      for index in start..<min(start + 512, length) {
        let old = index < file.synced.count ? file.synced[index] : nil
        let new = index < file.bytes.count ? file.bytes[index] : nil
        if let old, old == new {
          remains[index] = old
        } else {
          switch fate {
          case 0: remains[index] = new ?? old ?? 0
          case 1: remains[index] = old ?? 0
          case 2: remains[index] = 0
          default: remains[index] = UInt8(truncatingIfNeeded: random.next())
          }
        }
      }
    }
    return remains
  }

  override func open(_ path: FilePath, for access: FileAccess) throws(SystemError) -> Int32 {
    try state.withLock { state throws(SystemError) in
      if path == "/folder" { return 99 }
      switch (state.names[path], access) {
      case (_?, .creating): throw SystemError("open", 17)
      case (nil, .reading), (nil, .appending): throw SystemError("open", 2)
      case (nil, .creating):
        if state.isFull { throw SystemError("open", 28) }
        try state.willChange("open")
        state.files[state.nextFile] = File()
        let change = NameChange.made(path, state.nextFile)
        change.apply(to: &state.names)
        state.pendingNames.append(change)
        state.nextFile += 1
      case (_?, _): break
      }
      state.nextDescriptor += 1
      state.open[state.nextDescriptor] = state.names[path]
      return state.nextDescriptor
    }
  }

  override func close(_ file: Int32) { state.withLock { $0.open[file] = nil } }

  override func status(atPath path: FilePath) throws(SystemError) -> FileStatus {
    try state.withLock { state throws(SystemError) in
      if let inode = state.names[path] { return SimulatedDisk.status(of: inode, state.files[inode]) }
      guard path == "/" || path == "/folder" else { throw SystemError("lstat", 2) }
      var status = SimulatedDisk.status(of: 0, nil)
      (status.kind, status.mode) = (.folder, 0o700)
      return status
    }
  }

  override func status(of file: Int32) throws(SystemError) -> FileStatus {
    try state.withLock { state throws(SystemError) in
      let inode = try state.inode(file)
      return SimulatedDisk.status(of: inode, state.files[inode])
    }
  }

  private static func status(of inode: Int, _ file: File?) -> FileStatus {
    var status = FileStatus()
    status.identity = FileIdentity(device: 1, inode: UInt64(inode))
    status.size = file?.bytes.count ?? 0
    (status.kind, status.mode, status.user, status.group) = (.file, 0o600, 1, 1)
    return status
  }

  override func snapshot(atPath path: FilePath) throws(SystemError) -> FileStatus { try status(atPath: path) }

  override func read(
    _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    try state.withLock { state throws(SystemError) in
      let rest = state.files[try state.inode(file)]?.bytes.dropFirst(offset).prefix(buffer.count) ?? []
      buffer.copyBytes(from: rest)
      return rest.count
    }
  }

  override func append(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SystemError) -> Int {
    try state.withLock { state throws(SystemError) in
      try state.willChange("write")
      let inode = try state.inode(file)
      let length = state.files[inode]?.bytes.count ?? 0
      if length + bytes.count > state.maximumLength { throw SystemError("write", 28) }
      state.files[inode]?.bytes.append(contentsOf: bytes)
      return bytes.count
    }
  }

  override func truncate(_ file: Int32, to length: Int) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      try state.willChange("ftruncate")
      let inode = try state.inode(file)
      guard let file = state.files[inode] else { return }
      state.files[inode]?.bytes = Array(file.bytes.prefix(length))
    }
  }

  override func synchronize(_ file: Int32) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      try state.willChange("fdatasync")
      let inode = try state.inode(file)
      if state.failingSyncs > 0 {
        state.failingSyncs -= 1
        state.files[inode]?.isBroken = true
        throw SystemError("fdatasync", 5)
      }
      guard let file = state.files[inode], !file.isBroken else { return }
      state.files[inode]?.synced = file.bytes
    }
  }

  override func synchronizeFolder(_ path: FilePath) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      try state.willChange("fsync")
      state.syncedNames = state.names
      state.pendingNames = []
    }
  }

  override func rename(_ path: FilePath, to newPath: FilePath) throws(SystemError) {
    if state.withLock({ $0.fixedPath }) == newPath { throw SystemError("rename", 16) }
    try change(.renamed(path, newPath), "rename")
  }

  override func remove(_ path: FilePath) throws(SystemError) { try change(.removed(path), "unlink") }

  private func change(_ change: NameChange, _ call: String) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      try state.willChange(call)
      change.apply(to: &state.names)
      state.pendingNames.append(change)
    }
  }

  override func makeFolder(_ path: FilePath) throws(SystemError) { throw SystemError("mkdir", 17) }

  override func names(inFolder path: FilePath) throws(SystemError) -> [FilePath] {
    names.compactMap { $0.folder == "/folder" ? $0.name : nil }
  }

  override func target(ofLink path: FilePath) throws(SystemError) -> FilePath { throw SystemError("readlink", 22) }
  override func resolve(_ path: FilePath) throws(SystemError) -> FilePath { path }
  override func setMode(_ mode: UInt32, of file: Int32) throws(SystemError) {}
  override func tryLock(_ file: Int32) throws(SystemError) -> Bool { true }
  override func unlock(_ file: Int32) {}
  override var user: UInt32 { 1 }
  override var hasOtherUsers: Bool { true }

  override func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) -> FileWatch? { nil }
}
