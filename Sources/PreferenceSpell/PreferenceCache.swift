internal import SpellRegistry
internal import Support
public import PreferenceStorage

/// A preference in one store, with its decoded value.
///
/// A read takes the decoded value from `copies`, which is valid for one version of the key's signal. If the value is
/// outdated, the reader decodes the stored text. No lock is held during decoding, since a decoder may read preferences.
///
/// `@unchecked Sendable`: the locks `successor` and `outcome` guard what they contain, and all other properties are
/// constants.
@usableFromInline final class PreferenceCache<Value: Codable & Sendable>: @unchecked Sendable {
  let store: any PreferenceStore
  /// The store to which values are written: `store` without its overrides.
  private let stored: any PreferenceStore
  /// The value that overrides the stored value for this run; nil if the key isn't overridden.
  private let override: PreferenceOverride?
  /// The hub of the store that keeps the value, and the key in that store; nil if the store has no hub.
  private let home: (hub: PreferenceHub, key: String)?
  let place: SourcePlace
  /// The current key, followed by the former keys.
  private let keys: [FormerPreferenceKey]
  private let formerNames: [String]
  /// The current key of the value in `store`.
  let key: String
  private let declaredDefault: DefaultValue<Value>
  /// Whether a replaced or removed value is immediately erased from the store's medium, such as a file.
  private let isErasing: Bool

  private let signal: PreferenceSignal?
  /// An unretained reference to `signal`, for reads that don't retain the signal.
  @usableFromInline let unretainedSignal: Unmanaged<PreferenceSignal>?
  @usableFromInline let copies = PreferenceCopies<Value>()

  /// The cache that has replaced this cache; nil if no cache has replaced it.
  ///
  /// A cache is replaced if its store couldn't be created at first, and a later attempt succeeds.
  private let successor = Lock<PreferenceCache?>(nil)
  private let outcome = Lock(PreferenceOutcome())

  init(
    store: any PreferenceStore, key: String, of declaration: PreferenceDeclaration<Value>
  ) {
    (self.store, self.key, declaredDefault, place) = (store, key, declaration.defaultValue, declaration.place)
    isErasing = declaration.isErasing
    (stored, override, home) = (store.withoutOverrides, store.override(forKey: key), store.home(ofKey: key))
    home?.hub.declarations.note(Value.self, forKey: home?.key ?? key, at: declaration.place)
    #if DEBUG
      let (declared, make) = declaration.defaultValue.source
      let warning = home?.hub.declarations.warning(
        onDefaultOfKey: home?.key ?? key, at: declaration.place, declared, make: make)
      if let warning { writeToStandardError("Warning: \(warning)\n") }
    #endif
    keys = [FormerPreferenceKey(key)] + declaration.formerKeys
    formerNames = declaration.formerKeys.map(\.key)
    signal = store.signal(forKey: key)
    unretainedSignal = signal.map { Unmanaged.passUnretained($0) }
  }

  /// Whether the store could be created.
  ///
  /// If not, a later access to the property or the constant tries again. A use of an existing projection doesn't.
  var isAvailable: Bool { !(store is UnavailablePreferenceStore) }

  /// The source of the value that overrides the stored value for this run; nil if the key isn't overridden.
  var overridden: String? { override?.source }

  // MARK: Reading

  /// The value of the preference while no value is set.
  ///
  /// If the store has a hub, each read returns the same default until the hub discards its `declarations`.
  private var defaultValue: Value {
    switch declaredDefault {
    case .constant(let value): value
    case .shared(let value):
      home?.hub.declarations.defaultValue(forKey: home?.key ?? key, at: place) { value } ?? value
    case .declared(let key): key.defaultValue(at: home)
    }
  }

  /// The overriding value, or else the stored value; the default if there is neither, or if the value can't be read.
  ///
  /// The active observation tracking, if there is any, registers the read.
  var value: Value {
    if let known = decodedValue { return known }
    let version = signal?.version ?? 0
    var found: Value?
    do throws(PreferenceError) {
      found = try read()
    } catch {
      // If the store can't be read, the default isn't kept in the cache, so that the next read tries again.
      guard error.code == .typeMismatch else { return defaultValue }
      if signal?.mayReport(version) == true { report(error) }
    }
    noteReadBack(signal == nil ? nil : version)
    let value = found ?? defaultValue
    // With former keys and no override, the value is kept only if the current key has a stored value, because a change
    // to a former key sends no signal. Without former keys, a default is kept, too. It can change only in a store
    // without a hub, or after the hub has discarded defaults.
    let isKept = keys.count == 1 || override != nil || outcome.withLock { $0.readable?[0] != nil }
    return version > 0 && isKept ? copies.keepInAll(value, of: version) : value
  }

  /// The decoded value; nil if there is none for the signal's version, or if the store has no signals.
  ///
  /// The active observation tracking, if there is any, registers the read.
  @inlinable var decodedValue: Value? {
    guard let unretainedSignal else { return nil }
    let version = unretainedSignal._withUnsafeGuaranteedRef { signal in
      signal.track()
      return signal.version
    }
    return copies.withValue(of: version) { $0 }
  }

  /// Reads the value that overrides the stored value, or else the stored value; nil if there is neither.
  private func read() throws(PreferenceError) -> Value? {
    guard let override else { return try readStored().value }
    return try override.value(Value.self, forKey: key)
  }

  /// Returns the stored value of the current key or of a former key, with the stored texts of all keys.
  private func readStored() throws(PreferenceError) -> (value: Value?, texts: [JSONText?]) {
    do throws(PreferenceError) {
      let texts = try storedTexts()
      let value = try decode(texts)
      outcome.change { ($0.readable, $0.readFailure) = (texts, nil) }
      return (value, texts)
    } catch {
      outcome.change { ($0.readable, $0.readFailure) = (nil, error.code == .typeMismatch ? nil : error) }
      throw error
    }
  }

  /// Returns the stored texts of `keys`, in the same order.
  ///
  /// The current key is read last. An assignment moves the value from a former key to the current key, so a value that
  /// is gone from the former key is found under the current key.
  private func storedTexts() throws(PreferenceError) -> [JSONText?] {
    var texts: [JSONText?] = []
    for key in keys.reversed() { texts.append(try stored.json(forKey: key.key).map { JSONText($0) }) }
    return texts.reversed()
  }

  /// Returns the value of the first key in `keys` whose text in `texts` isn't nil; nil if all texts are nil.
  private func decode(_ texts: [JSONText?]) throws(PreferenceError) -> Value? {
    do throws(PreferenceError) {
      for (key, text) in zip(keys, texts) { if let value = try key.value(Value.self, of: text) { return value } }
      return nil
    } catch {
      let mismatch = error
      // A former key with the current key's name may declare that the value is encoded within a string or data.
      for former in keys.dropFirst() where former.key == key {
        do throws(PreferenceError) { return try former.value(Value.self, of: texts[0]) } catch {}
      }
      let conflict = home?.hub.declarations.conflict(with: Value.self, forKey: home?.key ?? key)
      throw PreferenceError(
        mismatch.code, mismatch.message + (conflict.map { ". \($0)" } ?? ""), key: mismatch.key,
        path: mismatch.path ?? store.path, underlying: mismatch.underlying)
    }
  }

  /// Returns the value, or the default if no value is set; throws if the value can't be read.
  func load() throws(PreferenceError) -> Value {
    signal?.track()
    let version = signal?.version
    let value = try read() ?? defaultValue
    noteReadBack(version)
    return value
  }

  /// The error from reading the value now, or else the error of the last assignment; nil if neither has failed.
  ///
  /// The error of an assignment is kept until a later change succeeds, or until this property reads a newer value.
  var error: PreferenceError? {
    do throws(PreferenceError) { _ = try read() } catch { return error }
    return outcome.withLock { $0.writeFailure?.error }
  }

  /// Discards the error of an assignment after a read, if the value has changed since the assignment.
  private func noteReadBack(_ version: UInt64?) {
    outcome.change { if let failed = $0.writeFailure?.version, failed != version { $0.writeFailure = nil } }
  }

  /// Whether the store has a value, even one that can't be decoded, under the current key or a former key.
  ///
  /// False if the store can't be read. If the current key is overridden, the override counts instead of the stored
  /// value; the override `null` counts as no value.
  var isSet: Bool {
    signal?.track()
    if let override { return override.json != nil }
    do throws(PreferenceError) { return try storedTexts().contains { $0 != nil } } catch { return false }
  }

  // MARK: Writing

  /// Writes a value; if the write fails, keeps the error and reports it.
  ///
  /// If another writer changes the value after the old value was read, the read and the write are repeated. After five
  /// seconds, the write fails. No lock is held between the read and the write.
  func set(_ value: Value) {
    reportingFailure { () throws(PreferenceError) in
      var patience = Patience()
      repeat {
        if try replace(by: text(of: value), ifStill: readableTexts()) { return }
        outcome.change { $0.readable = nil }
      } while patience.wait()
      throw PreferenceError(.busy, "others change the value without a pause, so it was not set; set it again", key: key)
    }
  }

  /// Changes the value in one transaction; if the change fails, keeps the error and reports it.
  func assign(_ change: (inout Value) -> Void) {
    reportingFailure { () throws(PreferenceError) in
      _ = try readableTexts()
      do { try update(change) } catch {
        throw error as? PreferenceError
          ?? PreferenceError(.unwritable, "the change was not made", key: key, underlying: error)
      }
    }
  }

  func reset() { reportingFailure { () throws(PreferenceError) in try replace(by: nil) } }

  /// Sets the text of the current key, or removes the current key if `text` is nil, and removes all former keys.
  ///
  /// A former key's value would otherwise take the place of a removed value.
  ///
  /// - Returns: False if the keys no longer have the texts in `known`, so nothing is changed; otherwise, true.
  @discardableResult
  func replace(by text: JSONText?, ifStill known: [JSONText?]? = nil) throws(PreferenceError) -> Bool {
    guard try stored.replace(key, formerNames, by: text, ifStill: known, erasing: isErasing) else { return false }
    let texts = keys.count == 1 ? [text] : keys.map { $0.key == key ? text : nil }
    outcome.change { ($0.readable, $0.readFailure, $0.writeFailure) = (texts, nil, nil) }
    return true
  }

  /// Reads, changes and writes the value in one transaction, with no other writer in between.
  ///
  /// If `recovering` is true, `body` gets the default instead of a value that can't be decoded.
  func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
    let result = try stored.transaction { changes in
      var value: Value?
      do throws(PreferenceError) {
        value = try decode(keys.map { key throws(PreferenceError) in try changes.text(forKey: key.key) })
      } catch {
        guard recovering, error.code == .typeMismatch else { throw error }
      }
      var new = value ?? defaultValue
      let result = try body(&new)
      for former in formerNames { changes.stage(nil, forKey: former, erasing: isErasing) }
      changes.stage(try text(of: new), forKey: key, erasing: isErasing)
      return result
    }
    outcome.change { $0.writeFailure = nil }
    return result
  }

  /// Returns the text to store for a value, or nil if the key has to be removed from the store.
  func text(of value: Value) throws(PreferenceError) -> JSONText? {
    try JSONText(of: value, forKey: key, default: defaultValue)
  }

  /// Returns the stored texts of all keys, if an assignment may safely replace them because they can be decoded.
  ///
  /// - Throws: An error if the value can't be read, or if the last read returned the default because the store couldn't
  ///   be read. In both cases, the assigned value may be based on the default, for example by a `+=`.
  private func readableTexts() throws(PreferenceError) -> [JSONText?] {
    // The assigned value may be based on the overriding value, so an override that can't be read prevents the write.
    if override != nil { _ = try read() }
    let (texts, failure) = outcome.withLock { ($0.readable, $0.readFailure) }
    if failure == nil, let texts { return texts }
    let cause: PreferenceError
    do throws(PreferenceError) {
      let texts = try readStored().texts
      // The store can be read now, so the next assignment may succeed. This assignment fails, because the assigned
      // value may be based on the default.
      guard let failure else { return texts }
      cause = failure
    } catch { cause = failure ?? error }
    let isMismatch = cause.code == .typeMismatch
    let reason = isMismatch ? cause.message : "the value could not be read, and is as it was. Read it and assign again"
    throw PreferenceError(
      cause.code,
      "what was assigned may build on the default, and was not kept: \(reason), or replace it by $property.set(_:) or"
        + " $property.reset()", key: key, path: cause.path, underlying: isMismatch ? cause.underlying : cause)
  }

  private func reportingFailure(of change: () throws(PreferenceError) -> Void) {
    do throws(PreferenceError) { try change() } catch {
      // The version is read after the assignment. If only the erasing of the previous value failed, the assignment has
      // changed the version.
      let version = signal?.version
      outcome.change { $0.writeFailure = (error, version) }
      report(error)
    }
  }

  private func report(_ error: PreferenceError) {
    store.report(error)
    #if DEBUG
      writeToStandardError("Preference \(error)\n")
    #endif
  }

  /// Takes the place of a cache whose store could not be created, and notifies the listeners of that cache.
  func succeed(_ unavailable: PreferenceCache) {
    let failure = unavailable.outcome.withLock { $0.readFailure }
    outcome.change { $0.readFailure = failure }
    unavailable.successor.change { $0 = self }
    (unavailable.store as? UnavailablePreferenceStore)?.hub.tell([key])
  }

  /// The last cache in the chain of successors, or this cache if it has none.
  var latest: PreferenceCache {
    var latest = self
    while let next = latest.successor.withLock({ $0 }) { latest = next }
    return latest
  }
}

/// The outcome of the last read and of the last assignment of a preference.
///
/// If this type were nested in a generic type, each assignment would spend a tenth of its time on type lookup.
private struct PreferenceOutcome: Sendable {
  /// The stored texts of the current key and of the former keys, as this preference last read or wrote them.
  ///
  /// An assignment replaces the texts only if the store still has them. Nil if the value can't be decoded from the
  /// texts, or if they have to be read first.
  var readable: [JSONText?]?
  /// The store's error in the last read, which therefore returned the default; nil if the store could be read.
  var readFailure: PreferenceError?
  /// The error of the last assignment that failed, with the signal's version after that assignment.
  ///
  /// Nil if no assignment has failed, or if a later change of the value or a part of it has succeeded.
  var writeFailure: (error: PreferenceError, version: UInt64?)?
}
