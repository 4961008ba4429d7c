internal import Support
public import PreferenceStorage
internal import Synchronization

/// One preference in its store, with its decoded value.
///
/// A read copies the value from a `PreferenceCopy`, which is good for one version of the key's signal. If that is outdated, one
/// thread decodes the value while the others wait, and all keep it: a value is decoded once for each change. If two threads
/// met at a copy, each gets one of its own (``PreferenceCopies``), so that they don't meet again.
///
/// `@unchecked Sendable`: the lock `decoding` guards `decoded`, and each copy's atomic `state` guards that copy. `failures` and
/// `successor` are locks, `decodingThread` and `absentVersion` atomics, and nothing else changes.
@usableFromInline final class PreferenceCache<Value: Codable & Sendable>: @unchecked Sendable {
  let store: any PreferenceStore
  let key: String
  let defaultValue: DefaultValue<Value>

  private let signal: PreferenceSignal?
  /// The same, to be read without retaining it; `signal` keeps it.
  @usableFromInline let unretainedSignal: Unmanaged<PreferenceSignal>?
  @usableFromInline let copies = PreferenceCopies<Value>()

  /// The version of the signal for which `decoded` is good; 0 for none.
  private let decoding = Lock<UInt64>(0)
  /// The value that was decoded last; nil if the store has none.
  ///
  /// Beside its lock, and `PreferenceFailures` outside this type, since a type that depends on `Value` is looked up each time
  /// it is used, which costs more than the decoding (benchmark "Add to an Int, written").
  @exclusivity(unchecked) private var decoded: Value?
  /// The thread that decodes; a value whose decoding reads the same preference must not wait for itself.
  private let decodingThread = Atomic<UInt>(0)
  /// The version for which the store was found to have no value, if the default has to be evaluated at each read.
  private let absentVersion = Atomic<UInt64>(0)

  private let failures = Lock(PreferenceFailures())
  /// What has taken the place of a cache whose store could not be made.
  private let successor = Lock<PreferenceCache?>(nil)

  init(store: any PreferenceStore, key: String, defaultValue: DefaultValue<Value>) {
    self.store = store
    self.key = key
    self.defaultValue = defaultValue
    signal = store.signal(forKey: key)
    unretainedSignal = signal.map { Unmanaged.passUnretained($0) }
  }

  /// Whether the store could be made; if not, a later use tries again.
  var isAvailable: Bool { !(store is UnavailablePreferenceStore) }

  /// The value in the store, or the default.
  ///
  /// The running observation tracks it.
  var value: Value {
    if let decoded = decodedValue { return decoded }
    guard let signal else { return read().value }
    let version = signal.version
    if absentVersion.load(ordering: .acquiring) == version { return defaultValue.value }
    if decodingThread.load(ordering: .relaxed) == currentThread { return read().value }
    return decodedOnce(signal)
  }

  /// The decoded value, if a copy of it is of the signal's version.
  ///
  /// The running observation tracks it.
  @inlinable var decodedValue: Value? {
    guard let unretainedSignal else { return nil }
    let version = unretainedSignal._withUnsafeGuaranteedRef { signal in
      signal.track()
      return signal.version
    }
    return copies.value(of: version)
  }

  /// Decodes the value, or waits for the thread that does.
  private func decodedOnce(_ signal: PreferenceSignal) -> Value {
    decoding.withLock { decodedVersion in
      let version = signal.version
      if decodedVersion != version {
        decodingThread.store(currentThread, ordering: .relaxed)
        let (stored, error) = stored()
        decodingThread.store(0, ordering: .relaxed)
        if let error {
          // A store that can't be read is asked again by the next read.
          guard error.code == .typeMismatch else { return defaultValue.value }
          if signal.mayReport(version) { store.report(error) }
        }
        decoded = stored
        decodedVersion = version
      }
      if let value = decoded ?? (defaultValue.isConstant ? defaultValue.value : nil) {
        copies.keep(value, of: version)
        return value
      }
      absentVersion.store(version, ordering: .releasing)
      return defaultValue.value
    }
  }

  /// What the store has, and why it could not be read.
  private func stored() -> (value: Value?, error: PreferenceError?) {
    do throws(PreferenceError) {
      let value = try store.value(Value.self, forKey: key)
      failures.withLock { $0.read = nil }
      return (value, nil)
    } catch {
      failures.withLock { $0.read = error.code == .typeMismatch ? nil : error }
      return (nil, error)
    }
  }

  private func read() -> (value: Value, error: PreferenceError?) {
    let (value, error) = stored()
    return (value ?? defaultValue.value, error)
  }

  /// The value, or the default, with an error if the value can't be read.
  func load() throws(PreferenceError) -> Value {
    unretainedSignal?._withUnsafeGuaranteedRef { $0.track() }
    let (value, error) = read()
    if let error { throw error }
    return value
  }

  /// Why the value reads as the default though the store has one, or why the last assignment was not kept, unless the key
  /// has changed since.
  var error: PreferenceError? {
    if let error = read().error { return error }
    let now = signal?.version
    return failures.withLock { failures in
      if let version = failures.write?.version, version != now { failures.write = nil }
      return failures.write?.error
    }
  }

  /// The changes of the key; of other keys too if the store can't tell them apart.
  var changes: PreferenceChanges { store.changes(of: key) }

  /// Whether the store has a value, readable or not.
  var isSet: Bool {
    unretainedSignal?._withUnsafeGuaranteedRef { $0.track() }
    do throws(PreferenceError) { return try store.json(forKey: key) != nil } catch { return false }
  }

  /// What the store has: a value, nothing, or what can't be read.
  struct State: Sendable {
    /// Nil if the store has none, or none that can be read.
    let value: Value?
    let error: PreferenceError?
    /// What states are compared by: equal values have equal texts.
    let text: String
  }

  /// What the store has now.
  var state: State {
    let (value, error) = stored()
    if let error { return State(value: nil, error: error, text: "\(error.code) \(storedText ?? "")") }
    let present = value ?? defaultValue.value
    let text = PreferenceText.text(of: present) ?? storedText ?? ""
    return State(value: present, error: nil, text: text)
  }

  private var storedText: String? {
    do throws(PreferenceError) { return try store.json(forKey: key) } catch { return nil }
  }

  /// Writes a value, or keeps why it could not be written and reports it.
  func set(_ value: Value) {
    reportingFailure { () throws(PreferenceError) in
      try refuseAfterFailedRead()
      try write(value)
    }
  }

  /// Changes the value as one, or keeps why that failed and reports it.
  func assign(_ change: (inout Value) -> Void) {
    reportingFailure { () throws(PreferenceError) in
      do {
        try refuseAfterFailedRead()
        try update(change)
      } catch let error as PreferenceError {
        throw error
      } catch {
        throw PreferenceError(.unwritable, "the change was not made", key: key, underlying: error)
      }
    }
  }

  func reset() {
    reportingFailure { () throws(PreferenceError) in
      try store.removeValue(forKey: key)
      failures.withLock { $0 = PreferenceFailures() }
    }
  }

  func write(_ value: Value) throws(PreferenceError) {
    try store.set(value, forKey: key)
    failures.withLock { $0 = PreferenceFailures() }
  }

  /// Reads, changes and writes the value as one, with no other writer in between.
  func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
    try store.transaction { changes in
      var value: Value
      do throws(PreferenceError) {
        value = try changes.value(Value.self, forKey: key) ?? defaultValue.value
      } catch {
        guard recovering, error.code == .typeMismatch else { throw error }
        value = defaultValue.value
      }
      let result = try body(&value)
      try changes.set(value, forKey: key)
      return result
    }
  }

  /// Throws if the last read gave the default because the store couldn't be read: what is assigned, as by a `+=`, may build on
  /// it.
  private func refuseAfterFailedRead() throws(PreferenceError) {
    guard let error = failures.withLock(\.read) else { return }
    // If the store can be read now, the next assignment is made.
    _ = stored()
    throw PreferenceError(
      error.code,
      "the value could not be read when it was last asked for, and what was assigned may build on the default, so it was not"
        + " kept. Read the value and assign again, or use $property.set(_:)", key: key, path: error.path,
      underlying: error)
  }

  private func reportingFailure(of change: () throws(PreferenceError) -> Void) {
    let before = signal?.version
    do throws(PreferenceError) { try change() } catch {
      failures.withLock { $0.write = (error, before) }
      store.report(error)
    }
  }

  /// Moves the value of the first of these keys that has one to the present key, if that has none, or has the value in encoded
  /// form.
  func take(from formerKeys: [FormerPreferenceKey]) {
    if formerKeys.isEmpty { return }
    var formerKeys = formerKeys
    if isSet {
      if stored().error == nil { return }
      formerKeys.removeAll { $0.key != key || !$0.isEncoded }
      if formerKeys.isEmpty { return }
    }
    let before = signal?.version
    do {
      try store.transaction { changes in
        for formerKey in formerKeys {
          guard let value = try changes.value(Value.self, forFormerKey: formerKey) else { continue }
          try changes.set(value, forKey: key)
          if formerKey.key != key { changes.removeValue(forKey: formerKey.key) }
          return
        }
      }
    } catch {
      failures.withLock { $0.write = (error as? PreferenceError).map { ($0, before) } }
    }
  }

  /// Takes the place of a cache whose store could not be made.
  func succeed(_ unavailable: PreferenceCache) {
    let failure = unavailable.failures.withLock(\.read)
    failures.withLock { $0.read = failure }
    unavailable.successor.withLock { $0 = self }
    (unavailable.store as? UnavailablePreferenceStore)?.tellAvailable(key)
  }

  /// The last of those that have taken the place of this one, or this one.
  var latest: PreferenceCache {
    var latest = self
    while let next = latest.successor.withLock(\.self) { latest = next }
    return latest
  }
}

/// What went wrong with a preference.
private struct PreferenceFailures: Sendable {
  /// Why the last assignment failed, and the version that it left as it was.
  var write: (error: PreferenceError, version: UInt64?)?
  /// Why the last read gave the default, if the store couldn't be read.
  var read: PreferenceError?
}
