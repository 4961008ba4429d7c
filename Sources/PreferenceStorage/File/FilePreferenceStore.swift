#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import Support
internal import Synchronization

/// A store in a file, which loses no value if the program crashes, another process writes, or the disk is full.
///
/// The file is text, with a line for each write, and a person can read it and append to it. Any number of stores,
/// threads and processes can use it at once. Values survive the end of the process, and also a power failure if the
/// file is synchronized: see ``Durability``. <doc:TheFile> describes what a store does in each state of the file.
///
/// *When the work happens.* Opening a store reads the whole file. Values are read from memory, which the stores on one
/// path share. A write of any number of keys takes one lock, one check for changes to the file, and one `write`.
///
/// *Other writers.* A read may miss changes that another process or a person made in the last 100 milliseconds or, if
/// the system doesn't report the change, in the last second. The first read checks whether the file has changed since
/// the store was opened. From the second read on, or after the first use of a property, the file is watched. A store
/// with `followsOthers: false` reads changes by others only at a write, at `reload()` or `synchronize()`, and while a
/// sequence of `changes()` or another store on the path follows the file. If the file is deleted, the store is empty.
///
/// *Waiting.* A write waits for transactions of other threads, and then of other processes, each time for at most
/// `lockWaitLimit`. If this time isn't enough, the write throws `.busy`. If another process held the file's lock for
/// this time, each later write waits for the lock at most 50 milliseconds, until a write gets the lock. A read doesn't
/// wait, except briefly before the file is watched, or for some seconds at most if the file couldn't be opened.
///
/// *Damage.* A line that can't be read is skipped, and the rest is kept; see `recovery`.
///
/// *Fork.* In a forked child, the parent's stores are empty, and their methods that can throw an error throw `.forked`.
/// The child can open the file again but not watch it. Its properties must use the store that it has opened.
public final class FilePreferenceStore: ErrorReporter {
  /// The users who may be able to change the folder of a store's file, and so put another file in its place.
  public enum Folder: Sendable {
    /// A folder that only this user, the superuser and `nobody` can change; any other folder is refused.
    ///
    /// A write also takes the right to write the file from other users.
    case `private`
    /// A folder that other users can change, all of whom the program trusts.
    ///
    /// No rights are checked or revoked. Use it for a container's volume that a group or everyone in the container can
    /// write to.
    case trusted
  }

  /// The default limit on the time that a write waits for another process or thread, which is 5 seconds.
  public static let defaultLockWaitLimit = Patience.defaultLimit

  let file: PreferencesFile
  let terms: WriteTerms
  private let followsOthers: Bool

  /// Opens the file, or prepares to create it at the first write or transaction.
  ///
  /// The path is followed at each look at the file. If a symbolic link on it is led elsewhere, the store has the values
  /// of the file that the path leads to then. Missing folders are created with the file, accessible only to their owner.
  ///
  /// - Parameters:
  ///   - url: The URL of the file. Its path is used byte for byte, including bytes such as `%FF` that aren't UTF-8.
  ///   - folder: Whether a folder that other users can change is refused or trusted.
  ///   - durability: The failures that a write survives once it has returned.
  ///   - lockWaitLimit: The longest time that a write waits for other threads, and again for other processes; zero for
  ///     no wait.
  ///   - followsOthers: Whether reads see changes by other processes without a `reload()` or a listener.
  ///   - aroundLock: A closure that the writing thread calls before it takes the file's lock. The closure returns
  ///     another closure to call after the write. With the two closures, an app can prevent its suspension while it
  ///     holds the lock. Neither closure is called if the store takes the lock only to read a damaged or replaced file.
  /// - Throws: `.notAPreferencesFile`, `.laterVersion`, `.unreadable`, `.insecureFolder`, `.insecureFile` or `.busy`;
  ///   `.nestedTransaction` within a transaction on the file. After an error, the file is unchanged. A read-only file
  ///   isn't an error.
  public convenience init(
    url: URL, folder: Folder = .private, durability: Durability = .written,
    lockWaitLimit: Duration = defaultLockWaitLimit, followsOthers: Bool = true,
    aroundLock: (@Sendable () -> @Sendable () -> Void)? = nil
  ) throws(PreferenceError) {
    try self.init(
      path: FilePath(url), folder: folder, durability: durability, lockWaitLimit: lockWaitLimit,
      followsOthers: followsOthers, aroundLock: aroundLock)
  }

  /// Creates a store on the file at the path, sharing the values in memory with the process's other stores on the path.
  ///
  /// If `system` isn't nil, the store shares no memory with other stores, like a store in another process.
  package convenience init(
    path: FilePath, folder: Folder = .private, durability: Durability = .written,
    lockWaitLimit: Duration = defaultLockWaitLimit, followsOthers: Bool = true,
    aroundLock: (@Sendable () -> @Sendable () -> Void)? = nil,
    system: FileSystem? = nil, compactingAbove minimum: Int? = nil
  ) throws(PreferenceError) {
    let location = FileLocation(path, folder)
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

  /// The damage that was found in the file, and the copy of the damaged file; nil if no damage was found.
  ///
  /// Damage is recorded only when the file is read under its lock. The property therefore stays nil while another
  /// process holds the lock.
  public var recovery: PreferenceRecovery? { file.recovery }

  /// Reads the file again, and returns the damage that was found in the file; nil if the file is sound.
  ///
  /// - Throws: `.busy` if the file seems damaged, but another process holds the file's lock for longer than the
  ///   store's `lockWaitLimit`; or any error in reading the file.
  package func damage() throws(PreferenceError) -> PreferenceRecovery? {
    let limit = terms.lockWaitLimit
    if try file.check(within: limit) { return recovery }
    throw PreferenceError(
      .busy,
      "seems damaged, but another process did not release its lock within \(limit), so it could not be checked. Check it"
        + " again when the lock is gone", path: path)
  }

  /// The keys in the order in which they were first written.
  public var keys: [String] {
    if followsOthers { file.noteRead() }
    return file.keys
  }

  /// Returns the JSON text of the value, exactly as in the file, or nil if the key has no value.
  ///
  /// Unless the file has to be read again, a call costs one lock and one dictionary lookup.
  public func json(forKey key: String) throws(PreferenceError) -> String? {
    if followsOthers { file.noteRead() }
    return try file.text(forKey: key)?.string
  }

  /// Reads and changes several values as a unit, while the file's lock makes other writing processes wait.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try file.transaction(terms, body)
  }

  /// Returns all values as a JSON object with a line for each key, in the order in which the keys were first written.
  ///
  /// `import(from:)` can read a file that contains this object.
  public func json() -> String {
    if followsOthers { file.noteRead() }
    return JSONText.object(file.table.allEntries)
  }

  /// Returns the values of some keys as a JSON object with a line for each key, in the order of the argument.
  ///
  /// A key without a value has the value `null` in the object.
  package func json(ofKeys keys: [String]) -> String {
    let table = file.table
    return JSONText.object(keys.map { PreferenceChange(key: $0, text: table.text(forKey: $0)) })
  }

  /// Returns a sequence of the changes that this process or another makes from now on.
  ///
  /// Earlier changes by others are included if this process hasn't read them yet. While any file of the process has a
  /// listener, one thread waits for the system's file events. Once a second, the thread also looks for changes that
  /// caused no event. If the file can't be watched when its watch starts, ``errors`` reports `.unwatchable`.
  public func changes() -> PreferenceChanges { file.listen() }

  /// Returns a sequence of the changes that this process or another makes to one key from now on.
  public func changes(of key: String) -> PreferenceChanges { file.listen(to: key) }

  /// Returns a stream of each change from now on, by this process or another, in the order of the file's lines.
  ///
  /// Replacing a value with an equal value isn't a change. If another program replaces or edits the file, the stream
  /// has the differences between the old and new values, in any order.
  package func records() -> AsyncStream<PreferenceChange> { file.records() }

  /// Returns the signal that is sent when the key's value changes.
  ///
  /// After the first call, changes by other processes are read as they happen, unless `followsOthers` is false.
  public func signal(forKey key: String) -> PreferenceSignal? {
    if followsOthers { file.follow() }
    return file.hub.signal(forKey: key)
  }

  /// The errors that could not be thrown to a caller.
  public var errors: AsyncStream<PreferenceError> { file.hub.errors }

  /// Reads the values that other processes have written since the last read, including edits of the file in place.
  ///
  /// - Throws: A `PreferenceError`, such as `.unreadable` or `.busy`. After an error, the values in memory are
  ///   unchanged. If the path now leads to something that can't be opened, the values are discarded instead.
  public func reload() throws(PreferenceError) { try file.reload() }

  /// Waits until all values written so far, by any process, would survive a power failure.
  ///
  /// - Throws: A `PreferenceError`, such as `.unwritable`, `.noSpace`, `.unreadable` or `.busy`. After an error, the
  ///   last changes may not survive a power failure.
  public func synchronize() throws(PreferenceError) { try file.synchronize() }

  /// Rewrites the file with one line for each key, without removed and replaced values.
  ///
  /// Without this call, a removed value usually stays in the file until the file is over 256 KiB and three times as
  /// long as necessary. The call writes and synchronizes the whole file. It doesn't erase a copy of a damaged or edited
  /// file, which ``recovery`` names, nor the remains of the old file that the file system or the disk keeps.
  ///
  /// - Throws: A `PreferenceError`, such as `.unwritable`, `.noSpace`, `.unreadable` or `.busy`. After an error, all
  ///   values are kept, and removed or replaced values may remain in the file.
  public func compact() throws(PreferenceError) { try file.compact(terms) }

  package func reportError(_ error: PreferenceError) {
    file.hub.report(error)
    #if !DEBUG
      // In debug builds, a property writes each error to standard error itself.
      if file.location.isStandard { FilePreferenceStore.complain(of: error) }
    #endif
  }
}

// MARK: The program's own store

extension FilePreferenceStore {
  /// The program's own store, in the file `settings.preferences` in a folder with the name of the program.
  ///
  /// The folder is in the first folder that the environment names:
  ///
  /// - `$PREFERENCES_FOLDER`, which is trusted (``Folder/trusted``),
  /// - `$XDG_CONFIG_HOME`,
  /// - `$HOME/.config`, unless the home is `/`, which a user without a home gets,
  /// - the first folder of `$STATE_DIRECTORY`, which systemd sets for a service that has a `StateDirectory`.
  ///
  /// A path that isn't absolute doesn't count. If no variable is set, the folder is in the `.config` of the user's home.
  /// On Apple platforms, only `$PREFERENCES_FOLDER` counts. Otherwise, the folder is in Application Support or, on tvOS,
  /// in Caches, which the system may empty. It is named after the bundle identifier, if any.
  ///
  /// The first use opens the store, with durability `.written`. Only a write or a transaction creates the file.
  ///
  /// This property never traps. If the file can't be opened, every read and write throws the error. Each write and each
  /// `reload()` tries again to open the file. Reads also try again, at most ten times a second.
  ///
  /// Under a test runner, a `@Preference` property without a registered store uses a store in memory instead.
  public static var standard: FilePreferenceStore {
    process.object {
      let place = standardPlace()
      return opening(FilePath(place.path), place.folder, isStandard: true)
    }
  }
  private static let process = PerProcess<FilePreferenceStore>()

  static func opening(_ path: FilePath, _ folder: Folder = .private, isStandard: Bool = false) -> FilePreferenceStore {
    let location = FileLocation(path, folder, isStandard: isStandard)
    let file = OpenFiles.current.file(at: location)
    // If the file can't be opened, `reload` records the error for readers.
    do throws(PreferenceError) { try file.reload() } catch { if isStandard { complain(of: error) } }
    return FilePreferenceStore(file, WriteTerms(), followsOthers: true)
  }

  private static let hasComplained = Atomic(false)

  /// Writes a line to standard error, once in a process, if the error means that the standard store can't be used.
  ///
  /// Its users are properties, which don't throw errors, and few programs read ``errors``.
  private static func complain(of error: PreferenceError) {
    guard error.isOfPlace || error.isOfAnotherFile, !hasComplained.exchange(true, ordering: .relaxed) else { return }
    writeToStandardError("The program's preferences can't be kept: \(error)\n")
  }

  /// Returns the path of the standard store's file, and whether its folder is trusted.
  static func standardPlace(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    process: String = ProcessInfo.processInfo.processName
  ) -> (path: String, folder: Folder) {
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
      let home = absolutePath(environment["HOME"]).flatMap { $0 == "/" ? nil : $0 }
      let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
      let folder =
        absolutePath(environment["XDG_CONFIG_HOME"]) ?? home.map { $0 + "/.config" } ?? absolutePath(state)
        ?? FileManager.default.homeDirectoryForCurrentUser.path + "/.config"
    #endif
    let trusted = absolutePath(environment["PREFERENCES_FOLDER"])
    return ("\(trusted ?? folder)/\(name)/settings.preferences", trusted == nil ? .private : .trusted)
  }

  private static func absolutePath(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

  #if canImport(Darwin)
    static let variables = "The program's own store is in $PREFERENCES_FOLDER, if that is set"
  #else
    /// Advice on the folder of the standard store, for error messages.
    static let variables =
      "The program's own store is in the folder of PREFERENCES_FOLDER, XDG_CONFIG_HOME, HOME or STATE_DIRECTORY: set one"
      + " of these variables to a folder that this user can write"
  #endif
}
