#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import Support

/// A store in a file that loses no value to a crash of the program, to another process, or to a full disk.
///
/// The file is text, with a line for each change, and a person can read it and append to it. Any number of stores,
/// threads and processes can use it at once. Values survive the end of the process, and also a power failure if the
/// file is synchronized: see ``Durability``. <doc:TheFile> describes what a store does in each state of the file.
///
/// *When the work happens.* Opening a store reads the whole file. Values are read from memory, which the stores on one
/// path share. A write of any number of keys takes one lock, one check for changes of the file, and one `write`.
///
/// *Others.* A read may miss what other processes, or a person, wrote in the last 100 milliseconds. The first read
/// looks at the file again; from the second one, or the first read of a property, the file is watched. A store with
/// `followsOthers: false` reads such changes at a write, at `reload()`, and while `changes()` has a listener. If the
/// file is deleted, the store is empty.
///
/// *Waiting.* A write waits for transactions of other processes and threads, for `lockWaitLimit` at most, and then
/// throws `.busy`. The next writes wait for only 50 milliseconds, until the lock is free again. Reading doesn't wait.
///
/// *Damage.* A line that can't be read is skipped, and the rest is kept; see `recovery`.
///
/// *Fork.* In a forked child, the parent's stores throw `.forked`. Open the file again there, where it isn't watched.
public final class FilePreferenceStore: ErrorReporter {
  /// The longest time that a write waits for the file's lock, unless the store has another limit: 5 seconds.
  public static let defaultLockWaitLimit = Turn.defaultLimit

  let file: PreferencesFile
  let terms: WriteTerms
  private let followsOthers: Bool

  /// Opens the file, or prepares to create it at the first write.
  ///
  /// A symbolic link is resolved only once. Missing folders are created together with the file, for their owner only.
  ///
  /// - Parameters:
  ///   - url: The URL of the file. Its path is used byte for byte, including bytes such as `%FF` that aren't UTF-8.
  ///   - durability: The failures that a write survives once it has returned.
  ///   - lockWaitLimit: The longest time that a write waits for another process or thread; zero for no wait.
  ///   - followsOthers: Whether reads see changes by other processes without a `reload()` or a listener.
  ///   - aroundLock: A closure to call on the writing thread before it takes the file's lock. The closure that it
  ///     returns is called after the write. For an app that must not be suspended while it holds a lock.
  /// - Throws: `.notAPreferencesFile`, `.laterVersion`, `.unreadable`, `.insecureFolder`, `.insecureFile` or `.busy`;
  ///   `.nestedTransaction` within a transaction on the file. Nothing changes then. A read-only file isn't an error.
  public convenience init(
    url: URL, durability: Durability = .written, lockWaitLimit: Duration = defaultLockWaitLimit,
    followsOthers: Bool = true, aroundLock: (@Sendable () -> @Sendable () -> Void)? = nil
  ) throws(PreferenceError) {
    try self.init(
      path: FilePath(url), durability: durability, lockWaitLimit: lockWaitLimit, followsOthers: followsOthers,
      aroundLock: aroundLock)
  }

  /// Creates a store on the process's file at the path; with a `system` of its own, the store shares no memory with
  /// others on the path, as if it were in another process.
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

  /// The damage that was found in the file, and the copy of the damaged file; nil if there was none.
  public var recovery: PreferenceRecovery? { file.memory.withLock(\.recovery) }

  /// The keys in the order in which they were first written.
  public var keys: [String] {
    if followsOthers { file.noteRead() }
    return file.keys
  }

  /// Returns the JSON text of the value, as it is in the file, or nil; costs one lock and one dictionary lookup.
  public func json(forKey key: String) throws(PreferenceError) -> String? {
    if followsOthers { file.noteRead() }
    return try file.text(forKey: key)?.string
  }

  /// Reads and changes several values as a unit, under the file's lock; other processes that write have to wait.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try file.transaction(terms, body)
  }

  /// Returns all values as a JSON object with a line for each key, in the order in which the keys were first written.
  ///
  /// `import(from:)` reads a file with this object.
  public func json() -> String {
    if followsOthers { file.noteRead() }
    return JSONText.object(file.memory.withLock(\.table).allEntries)
  }

  /// Returns the values of some keys as ``json()`` returns all.
  package func json(ofKeys keys: [String]) -> String {
    let table = file.memory.withLock(\.table)
    return JSONText.object(keys.map { PreferenceChange(key: $0, text: table.text(forKey: $0)) })
  }

  /// Returns the changes from now on, by this process or another.
  ///
  /// While there is a listener to any file of the process, one thread waits for file events of the system, and once a
  /// second looks for changes without events. If a file can't be watched at first, `errors` has `.unwatchable`.
  public func changes() -> PreferenceChanges { file.listen() }

  /// Returns the changes to one key from now on.
  public func changes(of key: String) -> PreferenceChanges { file.listen(to: key) }

  /// Returns each change from now on, by this process or another, in the order in which the file has them.
  ///
  /// A value that replaces an equal one isn't a change. If another program replaces or edits the file, the stream has
  /// the differences, in any order.
  package func records() -> AsyncStream<PreferenceChange> { file.records() }

  /// Returns the signal of the key.
  ///
  /// From now on, changes by other processes are read as they happen, unless `followsOthers` is false.
  public func signal(forKey key: String) -> PreferenceSignal? {
    if followsOthers { file.follow() }
    return file.hub.signal(forKey: key)
  }

  /// The errors that could not be thrown to a caller.
  public var errors: AsyncStream<PreferenceError> { file.hub.errors }

  /// Reads what others have written since the last read, including edits in place.
  ///
  /// - Throws: A `PreferenceError`, such as `.unreadable` or `.busy`. The values in memory don't change then.
  public func reload() throws(PreferenceError) { try file.reload() }

  /// Returns when everything written so far, by any process, would survive a power failure.
  ///
  /// - Throws: `.unwritable`, `.noSpace`, `.unreadable` or `.busy`. The last changes may not survive a power failure
  ///   then.
  public func synchronize() throws(PreferenceError) { try file.synchronize() }

  /// Replaces the file with a new one that has one line for each key, and nothing that was removed or replaced.
  ///
  /// A removed value otherwise stays in the file until it is over 256 KiB and three times as long as necessary. Costs
  /// the writing and the synchronization of the whole file. A copy of a damaged or edited file, which
  /// ``recovery`` names, isn't erased, and neither is what the file system or the disk keeps of the old file.
  ///
  /// - Throws: `.unwritable`, `.noSpace`, `.unreadable` or `.busy`. All values are kept, and what was replaced may
  ///   remain.
  public func compact() throws(PreferenceError) { try file.compact(terms) }

  package func reportError(_ error: PreferenceError) { file.hub.report(error) }
}

// MARK: The program's own store

extension FilePreferenceStore {
  /// The program's own store: `settings.preferences` in a folder with the name of the program.
  ///
  /// The folder is in `$XDG_CONFIG_HOME`, or else in `$HOME/.config`, if these are absolute paths. On Apple platforms
  /// it is in Application Support, or on tvOS in Caches, which the system may empty, and is named after the bundle
  /// identifier, if any. The first use opens the store, with durability `.written`. Only a write creates the file.
  ///
  /// This property never traps. If the file can't be opened, every read and write throws the reason. Each write and
  /// each `reload()` tries again to open the file, and so do reads, ten times a second at most.
  ///
  /// Under a test runner, a `@Preference` property without a registered store uses a store in memory instead.
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
      // Two programs may have the same name, but not the same bundle identifier.
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
