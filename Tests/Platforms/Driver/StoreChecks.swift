import Darwin
import PreferenceStorage

/// Returns the number of synchronization calls that a change makes.
private func synchronizations(of change: () throws -> Void) rethrows -> (full: Int, plain: Int) {
  _ = Synchronizations.counts()
  try change()
  return Synchronizations.counts()
}

/// Fails every `F_FULLFSYNC` with an error while the body runs.
private func failing<Result>(with error: Int32, _ body: () throws -> Result) rethrows -> Result {
  Synchronizations.failFull(with: error)
  defer { Synchronizations.failFull(with: 0) }
  return try body()
}

/// Returns the code of the error that a body throws, or nil if it throws none.
private func code(of body: () throws -> Void) throws -> PreferenceError.Code? {
  do {
    try body()
    return nil
  } catch let error as PreferenceError {
    return error.code
  }
}

@MainActor func checkStores() async {
  await check("a store keeps a value in its file") {
    let folder = try TemporaryFolder()
    try FilePreferenceStore(url: folder.file()).set(7, forKey: "volume")
    return try FilePreferenceStore(url: folder.file()).value(Int.self, forKey: "volume") == 7
  }
  await check("a synced write is F_FULLFSYNC, of the file and of the folder of a new one") {
    let folder = try TemporaryFolder()
    let store = try FilePreferenceStore(url: folder.file(), durability: .synced)
    let first = try synchronizations { try store.set(1, forKey: "a") }
    let second = try synchronizations { try store.set(2, forKey: "a") }
    // The first change synchronizes the header of the new file, its name, and the value; the second, only the value.
    return first == (3, 0) && second == (1, 0)
  }
  await check("a compaction is F_FULLFSYNC of the file and of the folder") {
    let folder = try TemporaryFolder()
    let store = try FilePreferenceStore(url: folder.file())
    try store.set(1, forKey: "a")
    return try synchronizations { try store.compact() } == (2, 0)
  }
  for error in [ENOTSUP, EINVAL, ENOTTY] {
    await check("a file system that answers \(error) to F_FULLFSYNC has fsync") {
      let folder = try TemporaryFolder()
      let store = try FilePreferenceStore(url: folder.file(), durability: .synced)
      let counts = try failing(with: error) { try synchronizations { try store.set(1, forKey: "a") } }
      return counts == (3, 3)
    }
  }
  await check("an F_FULLFSYNC that fails with EIO isn't a success of fsync") {
    let folder = try TemporaryFolder()
    let store = try FilePreferenceStore(url: folder.file(), durability: .synced)
    var plain = 0
    let found = try failing(with: EIO) {
      try code { plain = try synchronizations { try store.set(1, forKey: "a") }.plain }
    }
    return found == .unwritable && plain == 0
  }
}
