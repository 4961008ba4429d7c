import Locking

/// A preferences file and what is known of it, for one thread at a time.
///
/// Everything is done between `begin` and `end`, which hold the file's lock against other processes (and against other
/// stores of this process on the same file, if it has two names). The values in memory are changed here and nowhere
/// else, and only to what the file says.
struct PreferenceFile: ~Copyable {
  private(set) var location: FileLocation
  let system: any FileSystem
  let values: SharedValues

  /// The open file.
  ///
  /// Nil before there is one, after it was deleted, and in a process that was forked off.
  var descriptor: Descriptor?
  var identity = FileIdentity(device: 0, inode: 0)
  /// How long the file is, as far as it is good.
  ///
  /// Less than 0: all of it has to be read.
  var length = -1
  /// How much of it is known to be what is in memory: no other program's line came in between.
  var verifiedLength = 0
  /// How many bytes after the good ones broke off.
  var tornBytes = 0
  /// The last line lacks its newline, so the next one begins with it.
  var endsWithoutNewline = false
  /// When the file was last written, where that is known.
  var modified: Int64?
  /// There are lines in the file that can't be read, and of which there is no copy yet.
  var isDamaged = false
  /// A repair failed, so that the next one is the next compaction's.
  var repairFailed = false
  /// Why a synchronisation failed, after which what is on the disk may not be what was written, and the
  /// system, which says so once, may call the next synchronisation a success.
  ///
  /// Only a new file helps.
  var syncFailure: SystemError?
  /// The file's name may not survive a power cut yet.
  var folderNeedsSync = true
  /// Why the file can only be read.
  var readOnly: SystemError?
  var sizeLimit: Int?
  /// The length at which compaction is tried again after it failed.
  var compactionThreshold = 0
  var processGeneration: Int
  var buffer: [UInt8] = []

  /// The keys that changed since someone asked, if anyone listens.
  var changedKeys: Set<String> = []

  /// A file up to this size is never compacted by itself.
  let compactionMinimum: Int

  init(
    at location: FileLocation, in system: any FileSystem, values: SharedValues, compactingAbove minimum: Int
  ) {
    self.compactionMinimum = minimum
    self.location = location
    self.system = system
    self.values = values
    self.processGeneration = system.processGeneration
  }

  var path: String { location.path }

  /// What was damaged.
  ///
  /// Beside the file, so that a transaction's body can ask for it.
  var recovery: PreferenceRecovery? {
    get { values.recovery.withLock { $0 } }
    nonmutating set { values.recovery.withLock { $0 = newValue } }
  }

  /// Finds out where the file is, if that failed when the store was made.
  mutating func locate() throws(PreferenceError) {
    if !location.isResolved { location = try FileLocation(resolving: location.path, in: system) }
  }
}
