#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import Support

/// A store in a file, which loses nothing to a crash of the program, to another process, or to a full disk.
///
/// The file is text, with a line for each change, and may be read and appended to by hand. Any number of stores, threads and
/// processes may use it at once. Values survive the end of the process, and a power cut if the file is synchronized: see
/// ``Durability``. <doc:TheFile> has what a store does in each state of the file.
///
/// *When the work happens.* Opening reads the whole file. Reading is from memory, which the stores on one path share. A write
/// is one lock, one look whether the file is still the same and one `write`, whatever the number of keys.
///
/// *Others.* What other processes write, and what is edited by hand, is seen by the next read, within 100 milliseconds, from
/// the second read of a value or the first read of a property on. A store with `followsOthers: false` sees it after a write,
/// after `reload()`, and while there is a listener to `changes()`. A file that is deleted is an empty store.
///
/// *Waiting.* A write waits while another process or thread is in a transaction, `lockWaitLimit` at most, and then throws
/// `.busy`; the writes that follow don't wait for a lock that hasn't been free since. Reading a value waits for nothing.
///
/// *Damage.* A line that can't be read is skipped and the rest kept; see `recovery`.
///
/// *Fork.* In a forked child a store of the parent's throws `.forked`. Open the file again there, where it isn't watched.
public final class FilePreferenceStore: ErrorReporter {
  /// For how long a write waits for the file's lock, unless the store is given another limit: 5 seconds.
  public static let defaultLockWaitLimit = Turn.defaultLimit

  let file: PreferencesFile
  let terms: WriteTerms
  private let followsOthers: Bool

  /// Opens the file, or prepares to make it at the first write.
  ///
  /// A symbolic link is resolved once. Folders that are missing are made with the file, for their owner only.
  ///
  /// - Parameters:
  ///   - url: A file's URL. Its path is taken byte for byte; a name that isn't UTF-8 is spelled with `%FF`.
  ///   - durability: What a write survives once it has returned.
  ///   - lockWaitLimit: For how long a write waits while another process or thread has the file's lock. Zero doesn't wait.
  ///   - followsOthers: Whether a read sees what other processes have written, without a `reload()` or a listener.
  ///   - aroundLock: Called before each write or transaction takes the file's lock, on its thread. What it returns is called
  ///     when the write is over. For an app that mustn't be suspended while it has a lock.
  /// - Throws: `.notAPreferencesFile`, `.laterVersion`, `.unreadable`, `.insecureFolder` or `.insecureFile`, and nothing was
  ///   touched; `.nestedTransaction` from within a transaction on the same file. A file that may only be read is opened.
  public convenience init(
    url: URL, durability: Durability = .written, lockWaitLimit: Duration = defaultLockWaitLimit,
    followsOthers: Bool = true, aroundLock: (@Sendable () -> @Sendable () -> Void)? = nil
  ) throws(PreferenceError) {
    try self.init(
      path: FilePath(url), durability: durability, lockWaitLimit: lockWaitLimit, followsOthers: followsOthers,
      aroundLock: aroundLock)
  }

  /// A store on the process's file at the path; on another file system, one that shares no memory with others on its path,
  /// as if in another process.
  package convenience init(
    path: FilePath, durability: Durability = .written, lockWaitLimit: Duration = defaultLockWaitLimit,
    followsOthers: Bool = true, aroundLock: (@Sendable () -> @Sendable () -> Void)? = nil,
    system: FileSystem? = nil, compactingAbove minimum: Int? = nil
  ) throws(PreferenceError) {
    var location = FileLocation(path)
    _ = try location.prepare(making: false, in: system ?? FileSystem())
    let own = system.map { PreferencesFile(at: location, in: $0, compactingAbove: minimum) }
    let file = own ?? OpenFiles.current.file(at: location)
    try file.reload()
    self.init(
      file, WriteTerms(durability: durability, lockWaitLimit: lockWaitLimit, aroundLock: aroundLock),
      followsOthers: followsOthers)
  }

  private init(_ file: PreferencesFile, _ terms: WriteTerms, followsOthers: Bool) {
    (self.file, self.terms, self.followsOthers) = (file, terms, followsOthers)
  }

  /// The damage in the file when it was read, and where it is kept as it was found; nil if there was none.
  public var recovery: PreferenceRecovery? { file.memory.withLock(\.recovery) }

  /// Returns the value of the key, or nil if there is none.
  ///
  /// From memory: one lock, one dictionary look-up, and the decoding.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    do throws(PreferenceError) {
      try ValueTable.check(key)
      if followsOthers { file.noteRead() }
      return try file.text(forKey: key)?.value(type, forKey: key)
    } catch { throw error.at(file.name) }
  }

  /// Keeps the value under the key; nil removes the key.
  ///
  /// - Throws: `.unwritable` or `.noSpace`: file and memory are as they were. `.invalidKey`, `.invalidValue`.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    do throws(PreferenceError) { try file.set(JSONText(of: value, forKey: key), forKey: key, terms) } catch {
      throw error.at(file.name)
    }
  }

  /// Removes the value of the key, if there is one.
  public func removeValue(forKey key: String) throws(PreferenceError) { try file.set(nil, forKey: key, terms) }

  /// The keys, sorted by first writing.
  public var keys: [String] { file.keys }

  /// Returns the JSON text of the value, as the file has it, or nil if there is none.
  public func json(forKey key: String) throws(PreferenceError) -> String? { try file.text(forKey: key)?.string }

  /// Reads and changes several values as one, under the file's lock: other processes wait meanwhile.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try file.transaction(terms, body)
  }

  /// Returns every value as a JSON object, with a line for each key, sorted by first writing.
  ///
  /// `import(from:)` reads it back.
  public func json() -> String { JSONText.object(file.memory.withLock(\.table).allEntries) }

  /// Returns the keys that change from now on, in this process or another.
  ///
  /// While there is a listener to any file of the process, one thread waits for the system's notices, and looks once a second
  /// for what the system has no notice of. If a file can't be watched at first, `.unwatchable` is reported to `errors`.
  public func changes() -> PreferenceChanges { file.listen() }

  /// Returns the changes of one key from now on, and of no other.
  public func changes(of key: String) -> PreferenceChanges { file.listen(to: key) }

  /// Returns the signal of the key.
  ///
  /// From now on what other processes write is read as they write it.
  public func signal(forKey key: String) -> PreferenceSignal? {
    if followsOthers { file.follow() }
    return file.hub.signal(forKey: key)
  }

  /// Errors that couldn't be thrown to a caller.
  public var errors: AsyncStream<PreferenceError> { file.hub.errors }

  /// Reads what others have written since, also in place.
  ///
  /// - Throws: `.unreadable`, `.notAPreferencesFile` or `.laterVersion`: memory is as it was.
  public func reload() throws(PreferenceError) { try file.reload() }

  /// Returns when everything written so far, by any process, would survive a power cut.
  ///
  /// - Throws: `.unwritable` or `.noSpace`: the last changes may not survive one.
  public func synchronize() throws(PreferenceError) { try file.synchronize() }

  /// Puts a new file with one line for each key in the place of this one.
  package func compact() throws(PreferenceError) { try file.compact(terms) }

  package func reportError(_ error: PreferenceError) { file.hub.report(error) }
}

// MARK: The program's own store

extension FilePreferenceStore {
  /// The program's own store: `settings.preferences` in a folder with the name of the program.
  ///
  /// The folder is in `$XDG_CONFIG_HOME`, or else in `$HOME/.config`, if these are absolute paths. On Apple platforms it is in
  /// Application Support, with the name of the bundle's identifier if there is one; on tvOS in Caches, which the system may
  /// empty. The store is opened at the first use, its writes are `.written`, and nothing is made before a write.
  ///
  /// It never traps. If the file can't be opened, every read and every write throws the reason. Each write and `reload()` tries
  /// to open it again, and so do reads, ten times a second at most.
  ///
  /// A property that is read under a test runner, with no store registered, has a store in memory instead.
  public static var standard: FilePreferenceStore { process.object { opening(FilePath(standardPath())) } }
  private static let process = PerProcess<FilePreferenceStore>()

  static func opening(_ path: FilePath) -> FilePreferenceStore {
    do { return try FilePreferenceStore(path: path) } catch {
      let file = PreferencesFile(at: FileLocation(path), in: FileSystem())
      file.memory.withLock { $0.failure = error }
      return FilePreferenceStore(file, WriteTerms(), followsOthers: true)
    }
  }

  static func standardPath(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    process: String = ProcessInfo.processInfo.processName
  ) -> String {
    var name = process.isEmpty ? "program" : process
    #if canImport(Darwin)
      // Two programs may have one name, and no two have one identifier.
      if let identifier = Bundle.main.bundleIdentifier { name = identifier }
      #if os(tvOS)
        let folder = URL.cachesDirectory.path
      #else
        let folder = URL.applicationSupportDirectory.path
      #endif
    #else
      let home = absolutePath(environment["HOME"]) ?? FileManager.default.homeDirectoryForCurrentUser.path
      let folder = absolutePath(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
    #endif
    return folder + "/" + name + "/settings.preferences"
  }

  private static func absolutePath(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
}
