#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A store in a file that loses nothing: not to a crash, not to another process, not to a full disk.
///
/// The file is text, with a line for each change, and may be read and appended to by hand. Any number of stores,
/// threads and processes may use it at once; within a process, stores on one path share their memory.
///
/// *When the work happens.* Opening reads the whole file. Reading is from memory. A write is one lock, one look whether
/// the file is still the same and one `write`, whatever the number of keys; what others have written is read first. Now
/// and then, when the file is over 256 KiB and three times as large as it has to be, a write also compacts it.
///
/// *Others.* What other processes write is seen after a write of one's own, after `reload()`, and on notice while
/// someone listens to `changes()`. A file that is deleted is an empty store; a file that is replaced is read anew.
///
/// *Damage.* A line that can't be read is skipped and the rest kept; see `recovery`.
public final class FilePreferenceStore: VersionedPreferenceStore {
  private let file: SharedFile
  private let durability: Durability

  /// Opens the file, or prepares to make it at the first write.
  ///
  /// A symbolic link is resolved now, once. Folders that are missing are made, for their owner only.
  ///
  /// - Parameters:
  ///   - url: a file's URL.
  ///   - durability: what a write survives once it has returned.
  /// - Throws: `.notAPreferencesFile`, `.laterVersion`, `.unreadable` or `.insecureFolder`. Whatever is at the place is
  ///   then left as it was. A file that may be read and not written is opened; its writes throw.
  public convenience init(url: URL, durability: Durability = .written) throws(PreferenceError) {
    guard url.isFileURL else {
      throw PreferenceError(.unreadable, "is not a file's URL", path: url.absoluteString)
    }
    try self.init(sharingPath: url.path, durability: durability, system: RealFileSystem())
  }

  /// A store on another file system, which shares no memory with others on its path, as if in another process.
  package convenience init(
    path: String, durability: Durability = .written, system: any FileSystem,
    compactingAbove minimum: Int? = nil
  ) throws(PreferenceError) {
    let location = try FileLocation(resolving: path, in: system)
    let file = SharedFile(
      at: location, in: system, compactingAbove: minimum ?? SharedFile.compactionMinimum)
    try file.open()
    self.init(file, durability: durability)
  }

  convenience init(sharingPath path: String, durability: Durability, system: any FileSystem)
    throws(PreferenceError)
  {
    let file = OpenFiles.file(at: try FileLocation(resolving: path, in: system), in: system)
    try file.open()
    self.init(file, durability: durability)
  }

  init(_ file: SharedFile, durability: Durability) {
    self.file = file
    self.durability = durability
  }

  /// What was damaged in the file when it was read, and where it is kept as it was found.
  ///
  /// Nil where nothing was.
  public var recovery: PreferenceRecovery? { file.recovery }

  /// The value of the key, or nil where there is none.
  ///
  /// From memory: one lock, one dictionary look-up, and the decoding.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    do throws(PreferenceError) {
      try PreferenceError.check(key)
      return try file.values.text(forKey: key)?.value(type, forKey: key)
    } catch {
      throw error.at(file.path)
    }
  }

  /// Keeps the value under the key; nil removes the key.
  ///
  /// - Throws: `.unwritable` or `.noSpace`: file and memory are as they were. `.invalidKey`, `.invalidValue`.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    do throws(PreferenceError) {
      try file.set(JSONText(of: value, forKey: key), forKey: key, durability)
    } catch {
      throw error.at(file.path)
    }
  }

  /// Removes the value of the key, if there is one.
  public func removeValue(forKey key: String) throws(PreferenceError) {
    try file.set(nil, forKey: key, durability)
  }

  /// Removes every value, in one transaction.
  public func removeAll() throws(PreferenceError) { try file.removeAll(durability) }

  /// The keys, sorted by first writing.
  public var keys: [String] { file.values.keys }

  /// Reads and changes several values as one, under the file's lock: other processes wait meanwhile.
  public func transaction<Result>(
    _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    try file.transaction(durability, body)
  }

  /// Every value as a JSON object, a line for each key, sorted by first writing.
  ///
  /// `import(from:)` reads it back.
  public func json() -> String { JSONText.object(file.values.table.changes) }

  /// The keys that change from now on, by whomever, other processes included.
  ///
  /// While anyone listens to any file of the process, one thread waits for the system's notices; nothing is polled. If
  /// the system has none to give (on a network's file system, or when too many files are watched), `errors` says so.
  public func changes() -> PreferenceChanges { file.listen() }

  /// Errors that nobody could be thrown.
  public var errors: AsyncStream<PreferenceError> { file.values.errors.stream() }

  /// Reads what others have written since, and all of the file if it may have been written in place.
  ///
  /// - Throws: `.unreadable`, `.notAPreferencesFile` or `.laterVersion`: memory is as it was.
  public func reload() throws(PreferenceError) { try file.open() }

  /// Returns when everything written so far, by whomever, would survive a power cut.
  ///
  /// - Throws: `.unwritable` or `.noSpace`: the last changes may not survive one.
  public func synchronize() throws(PreferenceError) { try file.synchronize() }

  /// The JSON text of the key's value.
  package func json(forKey key: String) throws(PreferenceError) -> String? {
    try PreferenceError.check(key)
    return try file.values.text(forKey: key)?.string
  }

  /// Keeps a value that is JSON already; nil removes the key.
  ///
  /// - Throws: `.invalidValue` where it isn't JSON.
  package func set(json: String?, forKey key: String) throws(PreferenceError) {
    try PreferenceError.check(key)
    guard let json else { return try file.set(nil, forKey: key, durability) }
    guard let text = JSONText(validating: json) else {
      throw PreferenceError(
        .invalidValue, "\(json.debugDescription) is not JSON; a string needs its quotes", key: key)
    }
    try file.set(text.isNull ? nil : text, forKey: key, durability)
  }

  /// Puts a new file with one line for each key in the place of this one, and returns how long it was and is.
  package func compact() throws(PreferenceError) -> (before: Int, after: Int) { try file.compact() }

  package var version: PreferenceVersion { file.values.version }

  package func report(_ error: PreferenceError) { file.values.errors.report(error) }
}
