/// A preferences file as one thread at a time works on it, and what memory knows of it.
///
/// What every write passes is here: take the lock, see whether the file is what memory knows, append, give the lock back.
/// <doc:TheFile> has the states that the file can be found in, and what is done in each.
///
/// `@unchecked Sendable`: the lock `turn` guards everything that changes; its atomic `owner` is exchanged acquiring, and
/// given back releasing. A forked child makes another one (``PerProcess``).
final class LockedFile: @unchecked Sendable {
  let turn: Turn
  let system: any FileSystem
  let contents: StoreContents
  /// A file up to this size is never compacted by itself.
  let compactionMinimum: Int
  private let forkCount: Int

  var location: FileLocation
  /// The open file; nil before there is one, and after it was deleted or replaced.
  var descriptor: Descriptor?
  var identity = FileIdentity(device: 0, inode: 0)
  /// Why the file can only be read.
  var readOnly: SystemError?
  /// Another process has the lock, so that what is read may be in the midst of a change.
  var isUnlocked = false

  /// Where the file ends as memory knows it; nil if all of it has to be read.
  var end: FileEnd?
  /// The change time by which an unchanged file is recognized.
  var stamp: FileStamp?

  /// When the file was last changed; nil if the system doesn't say.
  ///
  /// Not looked at before each write: the kernel would give that write a time of its own, which costs as much as the write.
  var changeTime: Int64? {
    do throws(SystemError) {
      return try descriptor.map { descriptor throws(SystemError) in
        try system.status(of: descriptor.number).snapshot.changeTime
      }
    } catch { return nil }
  }
  /// All of the file was read since the lock was taken.
  var isFresh = false
  /// The last transaction kept the lock for long.
  var longHold: LongHold?
  /// There are lines in the file that can't be read, and of which there is no copy yet.
  var isDamaged = false
  /// A repair failed, so that the next one is the next compaction's.
  var repairFailed = false
  /// What memory had when another program emptied the file or cut it off.
  var lostTable: ValueTable?
  /// Why a synchronization failed, after which what is on the disk may not be what was written, and the system, which
  /// reports that once, may call the next synchronization a success.
  ///
  /// Only a new file helps.
  var syncFailure: SystemError?
  /// The file's name may not survive a power cut yet.
  var folderNeedsSync = true
  var sizeLimit: Int?
  /// The length at which compaction is tried again after it failed.
  var compactionThreshold = 0
  /// The keys that changed since they were last told, if there is a listener.
  var changedKeys: Set<String> = []
  private var buffer: [UInt8] = []

  init(
    at location: FileLocation, in system: any FileSystem, contents: StoreContents, compactingAbove minimum: Int
  ) {
    turn = Turn(of: location.path.description)
    self.location = location
    self.system = system
    self.contents = contents
    compactionMinimum = minimum
    forkCount = system.forkCount
  }

  /// What the file is locked for.
  enum Purpose { case reading, writing }

  var path: FilePath { location.path }
  /// The path, for messages.
  var name: String { location.path.description }
  /// The process is a child that was forked off in the midst of a turn, which is its parent's.
  private var isParents: Bool { forkCount != system.forkCount }

  /// Takes the file's lock and brings memory up to date.
  ///
  /// If there is no file, writing makes one, and reading finds nothing and holds no lock. Reading goes on without the
  /// lock if another process keeps it.
  ///
  /// - Throws: `.busy` if another process keeps the lock from a writer for longer than the limit.
  func begin(_ purpose: Purpose, within limit: Duration) throws(PreferenceError) {
    isFresh = false
    if purpose == .writing {
      if readOnly != nil { descriptor = nil }
      if let hold = longHold {
        longHold = nil
        hold.letOthersIn()
      }
    }
    for _ in 0..<1000 {
      guard let descriptor = try openIfNeeded(purpose) else { return forgetEverything() }
      do {
        try lock(descriptor, purpose, within: limit)
        let snapshot = try system.snapshot(atPath: path)
        if snapshot.identity == identity {
          if snapshot.size != end?.size { try catchUp(to: snapshot.size) }
          if purpose == .writing, snapshot.size == 0 { try writeHeader() }
          return
        }
      } catch let error as PreferenceError {
        finish()
        throw error
      } catch let error as SystemError where error.isMissing {
      } catch {
        finish()
        throw failure(purpose, error)
      }
      // Another file is at the path now, or none.
      finish()
      self.descriptor = nil
    }
    throw neverSettled
  }

  private func lock(_ descriptor: Descriptor, _ purpose: Purpose, within limit: Duration) throws {
    isUnlocked = false
    let isExclusive = purpose == .writing && readOnly == nil
    if try system.tryLock(descriptor.number, exclusively: isExclusive) { return }
    if let other = OpenFileTable.nameInTurn(of: self) { throw turn.nested(as: other) }
    var patience = Patience(limit)
    while patience.wait() {
      if try system.tryLock(descriptor.number, exclusively: isExclusive) { return }
    }
    guard purpose == .reading else { throw busy(limit) }
    isUnlocked = true
  }

  private func busy(_ limit: Duration) -> PreferenceError {
    let holder = system.lockHolder(of: identity) ?? "another process"
    return PreferenceError(
      .busy,
      "has been locked for more than \(limit) by \(holder); the change was not made. Set the value again when the lock is"
        + " gone, or set a longer lockWaitLimit", path: name)
  }

  /// Gives the lock back.
  func finish() {
    if let descriptor, !isParents { system.unlock(descriptor.number) }
  }

  /// Writes the changes as one line at the end of the file, which is locked for writing, and then makes them in memory.
  ///
  /// When it throws, file and memory are as they were.
  func write(_ changes: some Collection<PreferenceChange>) throws(PreferenceError) {
    if isParents {
      throw PreferenceError(
        .unwritable,
        "the process was forked off in the midst of a transaction, which is its parent's; nothing was written. Begin the"
          + " child's transactions in the child", path: name)
    }
    try makeReady()
    // Taken out of the property, since a change in place would be checked for exclusive access (benchmark "Set an Int,
    // written").
    var bytes = buffer
    buffer = []
    defer { if bytes.capacity <= 1 << 16 { buffer = bytes } }
    bytes.removeAll(keepingCapacity: true)
    if end?.endsWithoutNewline == true { bytes.append(UInt8(ascii: "\n")) }
    let start = bytes.count
    Line.append(changes, to: &bytes)
    try append(bytes, lineStart: start)
    note(contents.apply(changes))
    guard let length = end?.length, length > compactionMinimum, length > compactionThreshold else { return }
    compactIfWorthwhile()
  }

  /// Notes keys that changed.
  func note(_ keys: Set<String>) { if !keys.isEmpty { changedKeys.formUnion(keys) } }

  /// Appends all the bytes or none.
  func append(_ bytes: [UInt8], lineStart: Int) throws(PreferenceError) {
    // The folder went at the instant at which the file was to be made.
    guard let descriptor, var end else { throw .writing(SystemError.replaced("write"), path: name) }
    do throws(SystemError) {
      try checkLimit(end.length + bytes.count)
      try descriptor.append(bytes)
    } catch {
      takeBack(bytes, from: descriptor, to: end.length)
      throw .writing(error, path: name)
    }
    bytes.withUnsafeBufferPointer { end.append($0, lineStart: lineStart) }
    self.end = end
    stamp = nil
  }

  /// Makes the file ready for a line: it may be written, begins with a header and ends with a whole line.
  func makeReady() throws(PreferenceError) {
    if let readOnly { throw .writing(readOnly, path: name) }
    if isDamaged, needsRepair { repair() }
    if let end, end.tornBytes > 0 { cutTornBytes(of: end) }
    if lostTable != nil { keepLostTable() }
    if syncFailure != nil { try rewrite() }
    if end?.length ?? 0 == 0 { try writeHeader() }
  }

  /// Throws if a file of that length is beyond the process's limit, instead of letting the system end the process
  /// with a signal.
  ///
  /// The limit is asked for again before a write is refused.
  func checkLimit(_ length: Int) throws(SystemError) {
    guard let limit = sizeLimit, length > limit else { return }
    sizeLimit = system.sizeLimit
    if let limit = sizeLimit, length > limit { throw SystemError.tooLarge("write") }
  }

  /// Cuts off what a write that failed has left.
  ///
  /// If that fails too, or a program that knows no lock has appended something, the next one finds it as bytes that broke
  /// off.
  private func takeBack(_ bytes: [UInt8], from descriptor: Descriptor, to length: Int) {
    do throws(SystemError) {
      let size = try system.status(of: descriptor.number).snapshot.size
      if size <= length { return }
      guard bytes.starts(with: try descriptor.read(from: length, to: size)) else { return end = nil }
      try system.truncate(descriptor.number, to: length)
    } catch {
      end = nil
    }
  }
}

// MARK: Opening

extension LockedFile {
  /// The open file, made if there is none and it is to be written to.
  private func openIfNeeded(_ purpose: Purpose) throws(PreferenceError) -> Descriptor? {
    if let descriptor { return descriptor }
    guard try location.prepare(makingFolder: purpose == .writing, in: system) else { return nil }
    do {
      for _ in 0..<1000 {
        switch try kindOfFile() {
        case .file: return try openFile()
        case nil where purpose == .reading: return nil
        case nil:
          if let made = try makeFile() { return made }
        case .link, .folder, .other:
          throw PreferenceError(
            .notAPreferencesFile,
            "is not a file but a folder, a link or a device; it was not touched."
              + " Move it away or choose another path", path: name)
        }
      }
    } catch let error as PreferenceError {
      throw error
    } catch {
      throw failure(purpose, error)
    }
    throw neverSettled
  }

  private var neverSettled: PreferenceError {
    PreferenceError(
      .unwritable, "is replaced over and over, so it could not be locked; find out which program does that",
      path: name)
  }

  private func failure(_ purpose: Purpose, _ error: any Error) -> PreferenceError {
    guard let error = error as? SystemError else {
      return PreferenceError(.unreadable, "could not be read", path: name, underlying: error)
    }
    return purpose == .writing ? .writing(error, path: name) : .reading(error, path: name)
  }

  /// There is no file, so there are no values.
  private func forgetEverything() {
    end = nil
    stamp = nil
    isDamaged = false
    lostTable = nil
    note(contents.replace(with: ValueTable()))
  }

  private func kindOfFile() throws(SystemError) -> FileStatus.Kind? {
    do {
      return try system.status(atPath: path).kind
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  private func openFile() throws -> Descriptor? {
    readOnly = nil
    do {
      return try adopt(system.open(path, for: .appending))
    } catch let error as SystemError {
      if error.isMissing { return nil }
      guard error.isRefusal else { throw error }
      let descriptor = try adopt(system.open(path, for: .reading))
      readOnly = error
      return descriptor
    }
  }

  /// Nil if another process has made it in the meantime.
  private func makeFile() throws -> Descriptor? {
    do {
      readOnly = nil
      let descriptor = Descriptor(try system.open(path, for: .creating), of: system)
      // What the superuser makes for another user is to be that user's.
      if let owner = try FileLocation.owner(in: location.folder, of: system) {
        try system.setOwner(owner, of: descriptor.number)
      }
      return try adopt(descriptor)
    } catch let error as SystemError {
      guard error.isTaken else { throw error }
      return nil
    }
  }

  private func adopt(_ number: Int32) throws -> Descriptor { try adopt(Descriptor(number, of: system)) }

  private func adopt(_ descriptor: Descriptor) throws -> Descriptor {
    let status = try system.status(of: descriptor.number)
    try keepOthersOut(of: descriptor, status)
    identity = status.snapshot.identity
    self.descriptor = descriptor
    OpenFileTable.note(identity, of: self)
    end = nil
    stamp = nil
    syncFailure = nil
    folderNeedsSync = true
    compactionThreshold = 0
    repairFailed = false
    sizeLimit = system.sizeLimit
    return descriptor
  }

  /// Refuses a file that another user could change, or takes the right from them.
  private func keepOthersOut(of descriptor: Descriptor, _ status: FileStatus) throws {
    guard system.hasOtherUsers else { return }
    let user = system.user
    if status.owner.user != user, status.owner.user != 0, user != 0, !system.isUnknown(status.owner.user) {
      throw PreferenceError(
        .insecureFile,
        "the file belongs to another user, who could change it; it was not read. Remove it or choose another path",
        path: name)
    }
    guard status.mode & 0o022 != 0 else { return }
    do throws(SystemError) {
      try system.setMode(status.mode & 0o755, of: descriptor.number)
    } catch {
      throw PreferenceError(
        .insecureFile,
        "others can write the file, and that right could not be taken from them; it was not read. Allow its owner only"
          + " (chmod go-w) or choose another path", path: name, underlying: error)
    }
  }
}
