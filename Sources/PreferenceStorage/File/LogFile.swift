import Support

/// The file that a path leads to: which file is open, which part of it memory reflects, and why it has to be rewritten.
///
/// The file changes in two ways only: lines are appended, or a new file is renamed to the path. <doc:TheFile> lists the
/// states of a file, and what the store does in each state.
struct LogFile: Sendable {
  /// An open file, with everything that stays the same while it is open.
  struct Opening: Sendable {
    let descriptor: Descriptor
    /// The path of the file without symbolic links, which is where a new file is renamed to.
    let path: FilePath
    let identity: FileIdentity
    /// The error of opening the file for writing, if it could be opened only for reading; otherwise nil.
    let refusal: SystemError?
    /// The permission bits of the file, if they let other users write to it; nil once a write has revoked that.
    var unsafeMode: UInt32?
  }

  let location: FileLocation
  let system: FileSystem
  /// The part that readers see, which every change of the file changes.
  let values: FileValues
  /// The length that the file must exceed to be compacted because of its length: 256 KiB, except in some tests.
  let compactionMinimum: Int

  /// The open file; nil if there is none, such as after the file was deleted.
  var opening: Opening?
  var known = KnownPart()
  /// The status of the file when all of it was last compared with memory; nil if another comparison is needed anyway.
  var compared: FileStatus?
  var need = RewriteNeed()
  /// Whether the folder has to be synchronized so that the file's name survives a power failure.
  var folderNeedsSync = true
  /// The changes that listeners haven't been notified of yet.
  var news: [PreferenceChange] = []
  /// The longest wait for the file's lock that timed out since a write last took the lock; zero if there was none.
  var waitInVain = Duration.zero
  var buffer: [UInt8] = []

  init(at location: FileLocation, in system: FileSystem, values: FileValues, compactingAbove minimum: Int?) {
    (self.location, self.system, self.values) = (location, system, values)
    compactionMinimum = minimum ?? 256 * 1024
  }

  var name: String { location.path.description }
  /// Whether the open file could be opened only for reading.
  var isReadOnly: Bool { opening?.refusal != nil }
}

/// The reasons to rewrite the open file.
struct RewriteNeed: Sendable {
  /// The damage that the last read of the whole file under its lock found.
  var damage = PreferenceRecovery()
  /// Whether the file contains a former value that a caller has asked to erase.
  var hasValueToErase = false
  /// The length at which a failed rewriting that no caller has asked for is tried again.
  var retryLength = 0

  mutating func noteFailure(_ error: PreferenceError, atLength length: Int) {
    let isFixed = (error.underlying as? SystemError)?.isOfFixedFile == true
    retryLength = isFixed ? .max : 2 * length
  }
}

// MARK: Reading

extension LogFile {
  /// Brings memory up to date with the file that the path leads to now.
  ///
  /// - Parameter limit: The longest time to wait for the lock of a file that seems damaged, because a line that another
  ///   process is still writing looks damaged, too.
  /// - Returns: False if the file seems damaged, but could not be locked within the limit.
  @discardableResult
  mutating func refresh(waiting limit: Duration = .zero) throws(PreferenceError) -> Bool {
    values.noteLook()
    guard try open(making: false), let file = opening?.descriptor else {
      discardValues()
      return true
    }
    if try read(isLocked: false) { return true }
    var patience = Patience(limit: limit)
    repeat {
      let isLocked = try asking { () throws(SystemError) in try system.tryLock(file.number) }
      guard isLocked else { continue }
      defer { unlock() }
      return try read(isLocked: true)
    } while patience.wait()
    return false
  }

  /// Reads the lines that follow the known part, up to the offset `size`, if the file still has the part's end.
  ///
  /// The whole of a short part is compared (`KnownPart.isShort`).
  ///
  /// - Returns: False if all of the file has to be read instead, because it has other bytes at the end of the known
  ///   part, or a line that no store has written.
  mutating func readEnd(upTo size: Int) throws(PreferenceError) -> Bool {
    guard let file = opening?.descriptor, known.length > 0 else { return false }
    let start = known.endStart.length
    let bytes = try asking { () throws(SystemError) in try file.read(from: start, to: size) }
    return known.endsLike(bytes) && apply(bytes[(known.length - start)...], onlyIfChecked: true)
  }

  /// Reads all of the open file, and parses what follows the known part, or everything if that part has changed.
  ///
  /// - Returns: False if the file seems damaged and `isLocked` is false. The caller must then read it under its lock.
  @discardableResult
  mutating func read(isLocked: Bool) throws(PreferenceError) -> Bool {
    guard let file = opening?.descriptor else { return true }
    let status = try asking { () throws(SystemError) in try system.status(of: file.number) }
    if status == compared {
      values.clearFailure()
      return true
    }
    // A change at the same instant as this look might leave the status as it is, so only an older one is relied on.
    let isOld = status.isOld
    let bytes = try asking { () throws(SystemError) in try file.read(from: 0, to: status.size) }
    let isKnown =
      known.length > 0 && known.isBeginning(of: bytes) && apply(bytes[known.length...], onlyIfChecked: false)
    if !isKnown, try !parse(bytes, status, isLocked: isLocked) { return false }
    compared = isOld ? status : nil
    return true
  }

  /// Applies the lines that follow the known part to memory.
  ///
  /// - Returns: False, without a change, if a line is damaged, if the lines don't begin after a newline, or, with
  ///   `onlyIfChecked`, if a line lacks a valid checksum.
  private mutating func apply(_ lines: ArraySlice<UInt8>, onlyIfChecked: Bool) -> Bool {
    if lines.isEmpty {
      values.clearFailure()
      return true
    }
    if known.lacksNewline { return false }
    var parser = LineParser(after: known)
    lines.withUnsafeBufferPointer { _ = parser.parseLines($0) }
    guard parser.damage.isEmpty, !onlyIfChecked || parser.isAllChecked else { return false }
    known = parser.known
    values.apply(parser.changes, notingIn: &news)
    return true
  }

  private mutating func parse(
    _ bytes: [UInt8], _ status: FileStatus, isLocked: Bool
  ) throws(PreferenceError) -> Bool {
    known = KnownPart()
    var parser = LineParser()
    switch parser.parseFile(bytes) {
    case .empty, .whole, .damaged: break
    case .foreign:
      throw PreferenceError(
        .notAPreferencesFile,
        "does not begin with the line \"#preferences 1\", so it is another program's; it was not touched."
          + " Move it away or choose another path", path: name)
    case .laterVersion(let version):
      throw PreferenceError(
        .laterVersion,
        "has the format of version \(version), and this program knows version 1; it was not touched."
          + " Use a later version of the program", path: name)
    }
    values.replaceTable(with: parser.table, notingIn: &news)
    let isSound = parser.damage.isEmpty
    guard isSound || isLocked else { return false }
    known = parser.known
    need.damage = parser.damage
    if !isSound { values.noteDamage(parser.damage) }
    return true
  }

  /// Removes all values from memory, because no file is there, or the reason is given.
  private mutating func discardValues(because failure: PreferenceError? = nil) {
    values.replaceTable(with: ValueTable(), because: failure, notingIn: &news)
  }

  /// Records the error of an attempt to open or read the file, which reads throw unless memory still has values.
  ///
  /// - Returns: False if the last attempt has failed with the same code; otherwise, true.
  @discardableResult
  mutating func noteFailure(_ error: PreferenceError) -> Bool {
    let isNew = values.failure?.code != error.code
    // What was last read stays while the file can't be opened, or while another program's text is in it.
    if opening == nil, error.isOfAnotherFile { discardValues(because: error) } else { values.noteFailure(error) }
    return isNew
  }

  /// Passes the changes on to the readers of records, and returns the changed keys.
  mutating func takeNews() -> Set<String> {
    if news.isEmpty { return [] }
    defer { news = [] }
    if values.hub.hasRecordReaders { values.hub.passOn(news) }
    return Set(news.map(\.key))
  }
}

// MARK: Opening

extension LogFile {
  /// Opens the file that the path leads to now, unless it is open already, and creates it if `making` is true.
  ///
  /// The path is followed as it is spelled, with its symbolic links.
  ///
  /// - Returns: False if there is no file and `making` is false, or if another process has just created or removed the
  ///   file.
  mutating func open(making: Bool) throws(PreferenceError) -> Bool {
    if let opening, try snapshot()?.identity == opening.identity { return true }
    opening = nil
    do throws(PreferenceError) { return try openAtPath(making: making) } catch { throw location.explaining(error) }
  }

  private mutating func openAtPath(making: Bool) throws(PreferenceError) -> Bool {
    let translate = making ? PreferenceError.writing : PreferenceError.reading
    guard let (path, status) = try location.target(making: making, in: system), status != nil || making else {
      return false
    }
    guard status == nil || status?.kind == .file else {
      throw PreferenceError(
        .notAPreferencesFile,
        "is not a file but a folder or a device; it was not touched. Move it away or choose another path", path: name)
    }
    let opened = try asking(translate) { () throws(SystemError) -> (file: Int32, refusal: SystemError?)? in
      do throws(SystemError) { return (try system.open(path, for: status == nil ? .creating : .appending), nil) } catch
      {
        if error.isTaken || error.isMissing { return nil }
        guard error.isRefusal, status != nil else { throw error }
        return (try system.open(path, for: .reading), error)
      }
    }
    guard let opened else { return false }
    try adopt(Descriptor(opened.file, of: system), at: path, refusal: opened.refusal)
    return true
  }

  private mutating func adopt(
    _ new: Descriptor, at path: FilePath, refusal: SystemError?
  ) throws(PreferenceError) {
    let status = try asking { () throws(SystemError) in try system.status(of: new.number) }
    let excludesOthers = location.excludesOthers(in: system)
    if excludesOthers, status.isForeign(to: system.user) {
      throw PreferenceError(
        .insecureFile,
        "the file belongs to another user, who could change it; it was not read. Remove it or choose another path",
        path: name)
    }
    var opening = Opening(descriptor: new, path: path, identity: status.identity, refusal: refusal)
    if excludesOthers, status.mode & 0o022 != 0 { opening.unsafeMode = status.mode }
    replaceOpening(with: opening, known: KnownPart())
  }

  /// Switches to another file, and discards what is recorded about the old one.
  mutating func replaceOpening(with new: Opening, known: KnownPart) {
    (opening, self.known, compared, need, folderNeedsSync) = (new, known, nil, RewriteNeed(), true)
  }

  /// Revokes the write access of other users before a write.
  ///
  /// A read leaves the permissions as they are, because a read changes nothing.
  mutating func keepOthersOut() throws(PreferenceError) {
    guard let file = opening?.descriptor, let mode = opening?.unsafeMode else { return }
    do throws(SystemError) { try system.setMode(mode & 0o755, of: file.number) } catch {
      throw PreferenceError(
        .insecureFile,
        "others can write the file, and that right could not be taken from them; the change was not made. Allow its"
          + " owner only (chmod go-w) or choose another path", path: name, underlying: error)
    }
    opening?.unsafeMode = nil
  }

  /// Returns the identity and the size of the file that the path leads to; nil if there is no file.
  func snapshot() throws(PreferenceError) -> FileStatus? {
    do throws(SystemError) { return try system.snapshot(atPath: location.path) } catch {
      if error.isMissing { return nil }
      throw .reading(error, path: name)
    }
  }

  /// Runs `body`, and translates errors of its system calls into errors of the store.
  func asking<Result>(
    _ translate: (SystemError, String) -> PreferenceError = PreferenceError.reading,
    _ body: () throws(SystemError) -> Result
  ) throws(PreferenceError) -> Result {
    do throws(SystemError) { return try body() } catch { throw translate(error, name) }
  }
}
