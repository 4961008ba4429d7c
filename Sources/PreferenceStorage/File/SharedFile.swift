import Locking

/// One file, open once in this process, and shared by every store on its path.
final class SharedFile: Sendable {
  let path: String
  let values = SharedValues()
  let system: any FileSystem
  let file: Lock<PreferenceFile>
  private let nesting = NestingGuard()
  let watch = Lock<(any FileWatch)?>(nil)

  /// A file up to this size is never compacted by itself.
  static var compactionMinimum: Int { 256 * 1024 }

  init(
    at location: FileLocation, in system: any FileSystem, compactingAbove minimum: Int = compactionMinimum
  ) {
    path = location.path
    self.system = system
    file = Lock(PreferenceFile(at: location, in: system, values: values, compactingAbove: minimum))
  }

  var recovery: PreferenceRecovery? { values.recovery.withLock { $0 } }

  /// Reads the file, or what is new in it, and puts right what is damaged.
  func open() throws(PreferenceError) {
    try locked(for: .reading) { file throws(PreferenceError) in try file.readAllIfModified() }
    if file.withLock({ $0.needsRepair }) {
      try locked(for: .writing) { file throws(PreferenceError) in
        if file.needsRepair { file.repair() }
      }
    }
  }

  func set(_ text: JSONText?, forKey key: String, _ durability: Durability) throws(PreferenceError) {
    try locked(for: .writing, then: durability) { file throws(PreferenceError) in
      guard file.values.isChange(text, forKey: key) else { return }
      try file.write(CollectionOfOne(PreferenceChange(key: key, text: text)))
    }
  }

  func removeAll(_ durability: Durability) throws(PreferenceError) {
    try locked(for: .writing, then: durability) { file throws(PreferenceError) in
      let changes = file.values.keys.map { PreferenceChange(key: $0, text: nil) }
      if !changes.isEmpty { try file.write(changes) }
    }
  }

  func transaction<Result>(
    _ durability: Durability, _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try locked(for: .writing, then: durability) { file throws(PreferenceError) in
      var transaction = PreferenceTransaction(on: file.values, path: file.path)
      do {
        let answer = try nesting.run { try body(&transaction) }
        let changes = transaction.changes
        if !changes.isEmpty { try file.write(changes) }
        result = .success(answer)
      } catch {
        result = .failure(error)
      }
    }
    return try result!.get()
  }

  func compact() throws(PreferenceError) -> (before: Int, after: Int) {
    var lengths = (before: 0, after: 0)
    try locked(for: .writing) { file throws(PreferenceError) in
      lengths.before = max(0, file.length)
      try file.compact()
      lengths.after = max(0, file.length)
    }
    return lengths
  }

  func synchronize() throws(PreferenceError) {
    try locked(for: .reading, then: .synced) { _ in }
  }

  /// Reads what a notice says is there to be read.
  func catchUp() {
    if nesting.isCalledFromWithin { return }
    do throws(PreferenceError) {
      var changed: Set<String> = []
      defer { values.changes.tell(changed) }
      try file.withLock { file throws(PreferenceError) in
        defer { swap(&changed, &file.changedKeys) }
        try file.followNotice()
      }
    } catch {
      values.errors.report(error)
    }
  }

  /// Does what has to be done under the file's lock, and tells of the keys that changed when it no longer holds it.
  private func locked(
    for purpose: PreferenceFile.Purpose, then durability: Durability = .written,
    _ body: (inout PreferenceFile) throws(PreferenceError) -> Void
  ) throws(PreferenceError) {
    try nesting.check(path)
    var changed: Set<String> = []
    var pending: PendingSync?
    defer { values.changes.tell(changed) }
    try file.withLock { file throws(PreferenceError) in
      defer { swap(&changed, &file.changedKeys) }
      try file.begin(purpose)
      defer { file.end() }
      try body(&file)
      if durability == .synced { pending = PendingSync(of: file) }
    }
    if values.changes.isHeard { keepWatching() }
    if let pending { try finish(pending) }
  }
}
