internal import Support
public import PreferenceStorage
internal import Synchronization

/// One preference in its store, with its decoded value.
///
/// A read copies the value from a `PreferenceCopy`, which is good for one version of the key's signal. If that is outdated, the
/// reader takes the value that was decoded last, or decodes it, under no lock: a decoder may read other preferences.
///
/// `@unchecked Sendable`: `state` and `failures` are locks, `readableVersion` is atomic, each copy's atomic `state` guards that copy,
/// and nothing else changes.
@usableFromInline final class PreferenceCache<Value: Codable & Sendable>: @unchecked Sendable {
  let store: any PreferenceStore
  let key: String
  let defaultValue: DefaultValue<Value>
  private let formerKeys: [FormerPreferenceKey]
  /// Whether the value may be nil while the default isn't: nil is stored then, since without a value there is the default.
  private let storesNil: Bool
  private static var nilText: String { ##"{"#nil":null}"## }

  private let signal: PreferenceSignal?
  /// The same, to be read without retaining it; `signal` keeps it.
  @usableFromInline let unretainedSignal: Unmanaged<PreferenceSignal>?
  @usableFromInline let copies = PreferenceCopies<Value>()

  private struct State: Sendable {
    /// The value that was decoded last, and the version of the signal for which it is good; 0 for none.
    var decoded: (value: Value?, version: UInt64) = (nil, 0)
    /// The cache that has taken the place of this one, if its store could not be made.
    var successor: PreferenceCache?
  }
  private let state = Lock(State())
  private let failures = Lock(PreferenceFailures())
  /// The version of which the store's value is known to be readable, so that it may be assigned.
  private let readableVersion = Atomic<UInt64>(0)

  init(
    store: any PreferenceStore, key: String, defaultValue: DefaultValue<Value>, formerKeys: [FormerPreferenceKey] = []
  ) {
    self.store = store
    self.key = key
    self.defaultValue = defaultValue
    self.formerKeys = formerKeys
    storesNil = Value.self is any ExpressibleByNilLiteral.Type && !PreferenceCache.isNil(defaultValue.value)
    signal = store.signal(forKey: key)
    unretainedSignal = signal.map { Unmanaged.passUnretained($0) }
  }

  private static func isNil(_ value: Value) -> Bool { PreferenceText.text(of: value) == "null" }

  /// Whether the store could be made; if not, a later use tries again.
  var isAvailable: Bool { !(store is UnavailablePreferenceStore) }

  // MARK: Reading

  /// The value in the store, or the default.
  ///
  /// The running observation tracks it.
  var value: Value {
    if let copy = decodedValue { return copy }
    guard let signal else { return stored().value ?? defaultValue.value }
    let version = signal.version
    let known = state.withLock { $0.decoded.version == version ? $0.decoded.value : nil }
    if let known {
      copies.keep(known, of: version)
      return known
    }
    let (found, error) = stored()
    let isMismatch = error?.code == .typeMismatch
    if isMismatch, let error, signal.mayReport(version) { report(error) }
    // A store that can't be read is asked again by the next read, and so is a default that may be another one then.
    guard error == nil || isMismatch, let value = found ?? defaultValue.constant else { return defaultValue.value }
    state.withLock { if $0.decoded.version < version { $0.decoded = (value, version) } }
    copies.keep(value, of: version)
    return value
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

  /// The store's value, under the key or a former one, and why it could not be read.
  private func stored() -> (value: Value?, error: PreferenceError?) {
    let version = signal?.version ?? 0
    do throws(PreferenceError) {
      let isNil = storesNil ? try store.json(forKey: key) == PreferenceCache.nilText : false
      var value = isNil ? PreferenceText.null(as: Value.self) : try store.value(Value.self, forKey: key)
      if value == nil { value = try formerValue(of: formerKeys) }
      failures.withLock { $0.read = nil }
      readableVersion.store(version, ordering: .relaxed)
      return (value, nil)
    } catch {
      // It may be kept under the same key in encoded form.
      do throws(PreferenceError) {
        if let value = try formerValue(of: formerKeys.filter { $0.key == key }) { return (value, nil) }
      } catch {}
      failures.withLock { $0.read = error.code == .typeMismatch ? nil : error }
      return (nil, error)
    }
  }

  private func formerValue(of formerKeys: [FormerPreferenceKey]) throws(PreferenceError) -> Value? {
    for former in formerKeys {
      if let value = try former.value(Value.self, of: store.json(forKey: former.key)) { return value }
    }
    return nil
  }

  /// The value, or the default, with an error if the value can't be read.
  func load() throws(PreferenceError) -> Value {
    signal?.track()
    let (value, error) = stored()
    if let error { throw error }
    return value ?? defaultValue.value
  }

  /// Why the value reads as the default though the store has one, or why the last assignment was not kept, unless the key
  /// has changed since.
  var error: PreferenceError? {
    if let error = stored().error { return error }
    let now = signal?.version
    return failures.withLock { failures in
      if let version = failures.write?.version, version != now { failures.write = nil }
      return failures.write?.error
    }
  }

  /// Whether the store has a value, readable or not.
  var isSet: Bool {
    signal?.track()
    do throws(PreferenceError) {
      for key in [key] + formerKeys.map(\.key) where try store.json(forKey: key) != nil { return true }
    } catch {}
    return false
  }

  // MARK: Writing

  /// Writes a value, or keeps why it could not be written and reports it.
  func set(_ value: Value) {
    reportingFailure { () throws(PreferenceError) in
      try refuseUnreadable()
      let before = signal?.version
      try replace(by: value)
      // If this was the only change, the value is readable still.
      if let before, signal?.version == before + 1 { readableVersion.store(before + 1, ordering: .relaxed) }
    }
  }

  /// Changes the value as one, or keeps why that failed and reports it.
  func assign(_ change: (inout Value) -> Void) {
    reportingFailure { () throws(PreferenceError) in
      try refuseUnreadable()
      do { try update(change) } catch { throw notMade(error) }
    }
  }

  func reset() { reportingFailure { () throws(PreferenceError) in try replace(by: nil) } }

  /// Writes a value, or removes it; what former keys have would take its place then, so it goes too.
  func replace(by value: Value?) throws(PreferenceError) {
    if formerKeys.isEmpty, !storesNil {
      if let value { try store.set(value, forKey: key) } else { try store.removeValue(forKey: key) }
    } else {
      do {
        try store.transaction { changes in
          for former in formerKeys { changes.removeValue(forKey: former.key) }
          if let value { try stage(value, in: &changes) } else { changes.removeValue(forKey: key) }
        }
      } catch {
        throw notMade(error)
      }
    }
    failures.withLock { $0 = PreferenceFailures() }
  }

  private func notMade(_ error: any Error) -> PreferenceError {
    error as? PreferenceError ?? PreferenceError(.unwritable, "the change was not made", key: key, underlying: error)
  }

  /// Reads, changes and writes the value as one, with no other writer in between.
  func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
    try store.transaction { changes in
      var value: Value?
      do throws(PreferenceError) {
        let isNil = storesNil ? try changes.json(forKey: key) == PreferenceCache.nilText : false
        value = isNil ? PreferenceText.null(as: Value.self) : try changes.value(Value.self, forKey: key)
        for former in formerKeys where value == nil {
          value = try former.value(Value.self, of: changes.json(forKey: former.key))
        }
      } catch {
        // It may be kept under the same key in encoded form.
        for former in formerKeys where former.key == key {
          value = try former.value(Value.self, of: changes.json(forKey: former.key))
        }
        guard value != nil || recovering && error.code == .typeMismatch else { throw error }
      }
      var new = value ?? defaultValue.value
      let result = try body(&new)
      for former in formerKeys { changes.removeValue(forKey: former.key) }
      try stage(new, in: &changes)
      return result
    }
  }

  private func stage(_ value: Value, in changes: inout PreferenceTransaction) throws(PreferenceError) {
    if storesNil, PreferenceCache.isNil(value) {
      try changes.set(json: PreferenceCache.nilText, forKey: key)
    } else {
      try changes.set(value, forKey: key)
    }
  }

  /// Throws if the store has a value that can't be read, or if the last read gave the default because the store couldn't be
  /// read: what is assigned, as by a `+=`, may build on the default.
  private func refuseUnreadable() throws(PreferenceError) {
    let failure = failures.withLock { $0.read }
    if failure == nil, let signal, readableVersion.load(ordering: .relaxed) == signal.version { return }
    // If the store can be read now, the next assignment is made.
    let error = stored().error
    guard let cause = failure ?? (error?.code == .typeMismatch ? error : nil) else { return }
    throw PreferenceError(
      cause.code,
      "the value could not be read, and what was assigned may build on the default, so it was not kept, and the value in the"
        + " store is as it was. Read the value and assign again, or replace it by $property.set(_:) or $property.reset()",
      key: key, path: cause.path, underlying: cause)
  }

  private func reportingFailure(of change: () throws(PreferenceError) -> Void) {
    let before = signal?.version
    do throws(PreferenceError) { try change() } catch {
      failures.withLock { $0.write = (error, before) }
      report(error)
    }
  }

  private func report(_ error: PreferenceError) {
    store.report(error)
    #if DEBUG
      writeToStandardError("Preference \(error)\n")
    #endif
  }

  /// Takes the place of a cache whose store could not be made.
  func succeed(_ unavailable: PreferenceCache) {
    let failure = unavailable.failures.withLock { $0.read }
    failures.withLock { $0.read = failure }
    unavailable.state.withLock { $0.successor = self }
    (unavailable.store as? UnavailablePreferenceStore)?.hub.tell([key])
  }

  /// The last of those that have taken the place of this one, or this one.
  var latest: PreferenceCache {
    var latest = self
    while let next = latest.state.withLock({ $0.successor }) { latest = next }
    return latest
  }
}

/// The last failures of a preference.
private struct PreferenceFailures: Sendable {
  /// Why the last read gave the default, if the store couldn't be read.
  var read: PreferenceError?
  /// Why the last assignment failed, and the version that it left as it was.
  var write: (error: PreferenceError, version: UInt64?)?
}
