/// A store of values by key, which are there again the next time the program runs.
///
/// A write is kept when it returns; what that means is up to the store. Every operation may be called from any thread.
///
/// A key is any string of 1 to 65,536 bytes. Keys that are equal as Swift strings, such as two spellings of `é`, are one. A
/// value is anything `Codable`, kept exactly: each integer and each floating-point number to the last bit, infinities and
/// NaN, `Date` and `Data` included, also inside other values. Nil is never kept: setting an optional to nil removes the key.
///
/// ```swift
/// let store = try FilePreferenceStore(url: file)
/// try store.set(7, forKey: "volume")
/// try store.value(Int.self, forKey: "volume")  // 7
/// ```
///
/// A store of your own is a ``CustomPreferenceStore``; `PreferenceStoreSuite`, of `SpellTesting`, checks it.
public protocol PreferenceStore: AnyObject, Sendable {
  /// Returns the value of the key, or nil if there is none.
  ///
  /// - Throws: `.typeMismatch` if the value can't be read as that type; it is kept as it is. `.invalidKey`. `.unreadable` and
  ///   the like if the store's medium can't be read.
  func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value?

  /// Sets the value of the key. An equal value isn't written again; nil removes the key.
  ///
  /// Values are compared as JSON. A `Set` has its elements there in the order of their hashes, so two equal sets can differ.
  ///
  /// - Throws: `.invalidKey`, `.invalidValue` if the value can't be encoded, and what the store's medium gives rise to. The
  ///   value is then what it was before.
  func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError)

  /// Removes the value of the key, if there is one.
  func removeValue(forKey key: String) throws(PreferenceError)

  /// Removes every value, in one transaction.
  func removeAll() throws(PreferenceError)

  /// The keys, sorted by first writing. A key that was removed and set again is the last. O(n log n).
  var keys: [String] { get }

  /// Returns the value of the key as JSON text in one line, as the store keeps it, or nil if there is none.
  ///
  /// - Throws: `.unreadable` and the like if the store's medium can't be read.
  func json(forKey key: String) throws(PreferenceError) -> String?

  /// Reads and changes several values as one: others see all of the changes or none, and make none in between.
  ///
  /// The body runs once, unless the store says otherwise, on the calling thread. It reads its own writes. If it throws,
  /// nothing is changed. It has to use the transaction that it is given: a write to the same store from within it throws
  /// `.nestedTransaction`, and a read of the store gives the values of before.
  ///
  /// ```swift
  /// try store.transaction { changes in
  ///   let launches = try changes.value(Int.self, forKey: "launches") ?? 0
  ///   try changes.set(launches + 1, forKey: "launches")
  /// }
  /// ```
  ///
  /// - Throws: What the body throws, or a `PreferenceError`.
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result

  /// Returns the changes from now on, in this process or another. See ``PreferenceChanges``.
  func changes() -> PreferenceChanges

  /// Returns the changes of one key from now on, and those of others if the store can't tell them apart.
  func changes(of key: String) -> PreferenceChanges

  /// Returns the signal of the key, by which a property keeps its value and is observed. See ``PreferenceSignal``.
  ///
  /// If it is nil, a property decodes its value at each read, and only its own changes are observed.
  func signal(forKey key: String) -> PreferenceSignal?

  /// The errors that could not be thrown to a caller, such as a property's failed write, or a failed compaction.
  ///
  /// Each access begins a stream of its own. A reader that is more than 64 errors behind misses the oldest.
  var errors: AsyncStream<PreferenceError> { get }

  /// Reads what others have written since, if the store's medium is shared.
  func reload() throws(PreferenceError)

  /// Returns when everything written so far would survive a power cut, if the store's medium knows such a thing.
  func synchronize() throws(PreferenceError)
}

extension PreferenceStore {
  /// Returns the value of the key, or nil if there is none.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try ValueTable.check(key)
    return try json(forKey: key).map { JSONText($0) }?.value(type, forKey: key)
  }

  /// Sets the value of the key, in a transaction; nil removes the key.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    try change { changes throws(PreferenceError) in try changes.set(value, forKey: key) }
  }

  /// Removes the value of the key, in a transaction.
  public func removeValue(forKey key: String) throws(PreferenceError) { try change { $0.removeValue(forKey: key) } }

  /// Removes every value, in a transaction.
  public func removeAll() throws(PreferenceError) { try change { $0.removeAll() } }

  private func change(_ body: (inout PreferenceTransaction) throws(PreferenceError) -> Void) throws(PreferenceError) {
    do {
      try transaction(body)
    } catch {
      throw error as? PreferenceError
        ?? PreferenceError(.unwritable, "the store failed, and the change was not made", underlying: error)
    }
  }

  /// Sets the text of the first key, or removes it for nil, and removes the other keys.
  ///
  /// - Returns: False, and nothing was changed, if the keys have other texts than the known ones, if there are such.
  package func replace(_ keys: [String], by json: String?, ifStill known: [String?]?) throws(PreferenceError) -> Bool {
    let text = json.map { JSONText($0) }
    #if !os(Windows)
      if keys.count == 1, let store = self as? FilePreferenceStore {
        let known = known.map { PreferenceChange(key: keys[0], text: $0[0].map { JSONText($0) }) }
        return try store.file.set(text, forKey: keys[0], store.terms, ifStill: known)
      }
    #endif
    var isStill = true
    try change { changes throws(PreferenceError) in
      let texts = try keys.map { key throws(PreferenceError) in try changes.json(forKey: key) }
      isStill = known == nil || known == texts
      guard isStill else { return }
      for key in keys.dropFirst() { changes.removeValue(forKey: key) }
      changes.stage(text, forKey: keys[0])
    }
    return isStill
  }

  #if os(Windows)
    package var path: String? { nil }
  #else
    /// The path of the store's file, for messages; nil if there is none.
    package var path: String? { (self as? FilePreferenceStore)?.file.name }
  #endif

  /// Returns all changes.
  public func changes(of key: String) -> PreferenceChanges { changes() }

  /// Returns nil.
  public func signal(forKey key: String) -> PreferenceSignal? { nil }

  /// A stream without errors.
  public var errors: AsyncStream<PreferenceError> { AsyncStream { $0.finish() } }

  /// Reports an error to the readers of ``errors``, if the store is one of this package or has a hub.
  package func report(_ error: PreferenceError) {
    if let store = self as? any ErrorReporter {
      store.reportError(error)
    } else if let store = self as? any CustomPreferenceStore {
      store.hub.report(error)
    }
  }
}

/// A store that has a way of its own to report errors.
package protocol ErrorReporter: PreferenceStore { func reportError(_ error: PreferenceError) }

// MARK: Migration

extension PreferenceStore {
  /// Brings the store to a version of the program's own counting, once.
  ///
  /// The body gets the version that the store has, 0 where it has none, and changes what has to be changed. It runs in
  /// one transaction with the new version's number, which is kept under the key `#version`; so it is done or not done, and only
  /// once also when two processes start together. A store that has the version already, or a later one, is left as it is.
  ///
  /// ```swift
  /// try store.migrate(to: 2) { version, changes in
  ///   if version < 1 { try changes.moveValue(forKey: "loudness", to: "volume") }
  ///   if version < 2 { changes.removeValue(forKey: "legacy") }
  /// }
  /// ```
  ///
  /// - Returns: Whether the body ran.
  /// - Throws: What the body throws, after which nothing is changed and the next call tries again, or a `PreferenceError`.
  @discardableResult
  public func migrate(
    to version: Int, _ body: (_ from: Int, _ changes: inout PreferenceTransaction) throws -> Void
  ) throws -> Bool {
    // Most starts of a program migrate nothing, and need no lock to know it.
    if try (value(Int.self, forKey: "#version") ?? 0) >= version { return false }
    return try transaction { changes in
      let old = try changes.value(Int.self, forKey: "#version") ?? 0
      guard old < version else { return false }
      try body(old, &changes)
      try changes.set(version, forKey: "#version")
      return true
    }
  }
}

// MARK: Durability

/// The events that a write survives once it has returned.
public enum Durability: Sendable {
  /// The end of the process, `kill -9` included: the value is in the kernel. About the cost of one system call or two.
  case written
  /// A power cut, too: the value is on the disk. The cost of the disk's own synchronization, 0.1 to 10 milliseconds.
  ///
  /// It is as true as what the disk says: `fdatasync` on Linux, `F_FULLFSYNC` on Apple platforms, for the file and, if need be,
  /// for its folder. A file system that doesn't know `F_FULLFSYNC` has `fsync`, which leaves the value in the disk's memory.
  case synced
}

// MARK: Platforms without a file store

#if os(Windows)
  /// A store in a file, which isn't written for Windows.
  @available(
    *, unavailable,
    message: "The file store isn't written for Windows. Use MemoryPreferenceStore, or implement CustomPreferenceStore."
  )
  public final class FilePreferenceStore {}
#endif
