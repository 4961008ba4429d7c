import PreferenceStorage
import TestSupport
import Testing

@Suite("A power failure", .timeLimit(.hang)) struct PowerFailureTests {
  static let path: FilePath = "/folder/store.preferences"

  /// The values that were written, and which of them were synchronized.
  struct History {
    /// For each key, all values since the synchronized one; nil for a key that was absent.
    var values: [String: [Int?]] = [:]
    var isSynced = false

    mutating func wrote(_ value: Int?, forKey key: String) { values[key, default: [nil]].append(value) }

    mutating func synced() {
      isSynced = true
      values = values.mapValues { [$0.last!] }
    }
  }

  /// Performs all kinds of operations until the power is cut, and returns what was written until then.
  static func run(on disk: SimulatedDisk) -> History {
    var history = History()
    var token = 0
    do {
      let store = try FilePreferenceStore(path: path, system: disk, compactingAbove: 1500)
      let other = try FilePreferenceStore(
        path: path, durability: .synced, system: disk, compactingAbove: 1500)
      let large = Array(repeating: 7, count: 150)
      for turn in 0..<24 {
        token += 1
        history.wrote(token, forKey: "plain \(turn % 3)")
        try store.set(token, forKey: "plain \(turn % 3)")
        token += 1
        for key in ["x", "y"] { history.wrote(token, forKey: key) }
        try store.transaction { changes in
          try changes.set(token, forKey: "x")
          try changes.set(token, forKey: "y")
        }
        switch turn % 4 {
        case 1:
          token += 1
          history.wrote(token, forKey: "synced")
          try other.set(token, forKey: "synced")
          history.synced()
        case 2:
          history.wrote(nil, forKey: "plain 0")
          try store.removeValue(forKey: "plain 0")
          // The value is large enough to cause a compaction now and then.
          try store.set([turn] + large, forKey: "large")
        case 3:
          try store.set([turn] + large, forKey: "large")
          try store.synchronize()
          history.synced()
        default: break
        }
      }
    } catch {
      // The power was cut.
    }
    return history
  }

  @Test(
    "leaves what was synchronised, no transaction in half, and no value that was never written",
    arguments: [nil, path])
  func powerFailure(fixedPath: FilePath?) async throws {
    let whole = SimulatedDisk(fixing: fixedPath)
    _ = PowerFailureTests.run(on: whole)
    #expect(whole.changeCount > 90)
    let seeds = Effort.count(repetitions(debug: 5, release: 40), long: 100_000 / whole.changeCount + 1)
    for point in 0...whole.changeCount {
      await Task.yield()
      let disk = SimulatedDisk(powerFor: point, fixing: fixedPath)
      let history = PowerFailureTests.run(on: disk)
      for seed in 0..<seeds {
        var random = SplitMix(seed: UInt64(point) << 32 | UInt64(seed))
        try check(disk.afterPowerFailure(using: &random), history, "point \(point), seed \(seed)")
      }
    }
  }

  func check(_ disk: SimulatedDisk, _ history: History, _ comment: Comment) throws {
    let store: FilePreferenceStore
    do {
      store = try FilePreferenceStore(path: PowerFailureTests.path, system: disk)
    } catch {
      // A file that was created and never synchronized may contain anything.
      #expect(error.code == .notAPreferencesFile || error.code == .laterVersion, comment)
      #expect(!history.isSynced, comment)
      return
    }
    for (key, values) in history.values {
      #expect(values.contains(try store.value(Int.self, forKey: key)), comment)
    }
    #expect(try store.value(Int.self, forKey: "x") == store.value(Int.self, forKey: "y"), comment)
    let known = Set(history.values.keys).union(["large"])
    #expect(known.isSuperset(of: store.keys), comment)
    try store.set(-1, forKey: "after")
    let again = try FilePreferenceStore(path: PowerFailureTests.path, system: disk)
    #expect(again.json() == store.json(), comment)
    #expect(again.recovery == nil, comment)
  }

  /// Returns the values of the key that a power failure may leave.
  func remains(on disk: SimulatedDisk) throws -> Set<Int?> {
    var values: Set<Int?> = []
    for seed in 0..<50 {
      var random = SplitMix(seed: UInt64(seed))
      let store = try FilePreferenceStore(
        path: PowerFailureTests.path, system: disk.afterPowerFailure(using: &random))
      values.insert(try store.value(Int.self, forKey: "a"))
    }
    return values
  }

  @Test("after a failed synchronization leaves what was written again")
  func failedSync() throws {
    let disk = SimulatedDisk()
    let store = try FilePreferenceStore(path: PowerFailureTests.path, durability: .synced, system: disk)
    try store.set(1, forKey: "a")
    disk.failSyncs(1)
    try store.set(2, forKey: "a")
    #expect(try remains(on: disk) == [2])
    try store.set(3, forKey: "a")
    #expect(try remains(on: disk) == [3])
  }

  @Test(
    "is nothing to rely on after a failed synchronisation that a new file could not make good, and that is an error"
  )
  func failedSyncWithoutSpace() throws {
    let disk = SimulatedDisk()
    let store = try FilePreferenceStore(path: PowerFailureTests.path, durability: .synced, system: disk)
    try store.set(1, forKey: "a")
    disk.failSyncs(1)
    disk.setFull(true)
    #expect(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
    #expect(try store.value(Int.self, forKey: "a") == 2)
    // The kernel would now report success.
    #expect(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.set(3, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.synchronize() }
    disk.setFull(false)
    try store.synchronize()
    #expect(try remains(on: disk) == [2])
  }

  @Test("after a file could not be synchronised when it was made leaves what was synchronised later")
  func failedCreation() throws {
    let disk = SimulatedDisk()
    disk.failSyncs(1)
    let store = try FilePreferenceStore(path: PowerFailureTests.path, system: disk)
    try store.set(1, forKey: "a")
    try store.synchronize()
    #expect(try remains(on: disk) == [1])
  }
}
