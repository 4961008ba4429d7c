/// A type that stores values by key, so that a program has them again the next time it runs.
///
/// A write is stored when the call returns; the store defines what a write survives. Any thread may call any operation.
///
/// A key is any string of 1 to 65,536 bytes. Equal Swift strings, such as two spellings of `é`, are one key. A value
/// has any `Codable` type. Integers, floating-point numbers, even infinities, `Date` and `Data` are stored exactly,
/// also inside other values, and so is a NaN that is a value by itself. Setting an Optional to nil removes the key.
///
/// ```swift
/// let store = try FilePreferenceStore(url: file)
/// try store.set(7, forKey: "volume")
/// try store.value(Int.self, forKey: "volume")  // 7
/// ```
///
/// A store of your own conforms to ``CustomPreferenceStore``. `PreferenceStoreSuite`, of `SpellTesting`, checks it.
public protocol PreferenceStore: AnyObject, Sendable, CustomStringConvertible {
  /// Returns the value of the key, or nil if there is none.
  ///
  /// - Throws: `.typeMismatch` if the value can't be read as the type, and stays stored; `.invalidKey` if the key is
  ///   empty or too long; `.unreadable` or a similar error if the store's medium can't be read.
  func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value?

  /// Sets the value of the key, unless the key has an equal value. Nil removes the key.
  ///
  /// Values are compared as JSON, where equal sets can differ: a `Set` is encoded in the order of its hash values.
  ///
  /// - Throws: `.invalidKey` if the key is empty or too long; `.invalidValue` if the value can't be encoded; or an
  ///   error of the store's medium. The key then keeps its old value.
  func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError)

  /// Removes the value of the key, if there is one.
  func removeValue(forKey key: String) throws(PreferenceError)

  /// Removes every value, in one transaction.
  func removeAll() throws(PreferenceError)

  /// The keys in order of their first write; a key removed and set again comes last. Complexity: O(*n* log *n*).
  var keys: [String] { get }

  /// Returns the JSON text that the store keeps for the key, in one line, or nil if there is none.
  ///
  /// - Throws: `.unreadable` or a similar error if the store's medium can't be read.
  func json(forKey key: String) throws(PreferenceError) -> String?

  /// Reads and changes several values as a unit: others see all of the changes or none, and can't write in between.
  ///
  /// The body runs on the calling thread, once unless the store documents otherwise. It reads its own writes. If the
  /// body throws, nothing is changed. It must use the transaction that it is passed: a write to the store itself throws
  /// `.nestedTransaction`, and a read of the store returns the values from before the transaction.
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

  /// Returns the changes from now on, by this process or another. See ``PreferenceChanges``.
  func changes() -> PreferenceChanges

  /// Returns the changes to one key from now on, and to other keys if the store can't tell them apart.
  func changes(of key: String) -> PreferenceChanges

  /// Returns the signal of the key, which tells properties and their observers of changes. See ``PreferenceSignal``.
  ///
  /// Without a signal, a property decodes its value at each read, and only its own changes are observed.
  func signal(forKey key: String) -> PreferenceSignal?

  /// The errors that could not be thrown to a caller, such as a property's failed write, or a failed compaction.
  ///
  /// Each access returns a new stream. A reader that is more than 64 errors behind misses the oldest.
  var errors: AsyncStream<PreferenceError> { get }

  /// Reads what others have written since the last read, if the store's medium is shared.
  func reload() throws(PreferenceError)

  /// Returns when everything written so far would survive a power failure, if the store's medium can ensure this.
  func synchronize() throws(PreferenceError)

  /// Erases what was removed or replaced from the store's medium, for instance a token after a sign-out.
  ///
  /// A store that keeps nothing but its values, as one in memory does, has nothing to do.
  ///
  /// - Throws: `.unwritable`, `.noSpace`, `.unreadable` or `.busy`. The store keeps its values, and what was replaced
  ///   may remain.
  func compact() throws(PreferenceError)
}

extension PreferenceStore {
  /// The type, the path of the file if there is one, and the keys.
  public var description: String { "\(type(of: self))\(path.map { " at \($0)" } ?? "") with keys \(keys)" }

  /// Returns the value of the key, or nil if there is none.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try readValue(type, forKey: key)
  }

  /// Returns the value that the key's JSON text encodes, or nil if there is none.
  func readValue<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    do throws(PreferenceError) {
      try ValueTable.check(key)
      return try json(forKey: key).map { JSONText($0) }?.value(type, forKey: key)
    } catch { throw error.at(path) }
  }

  /// Sets the value of the key; nil removes the key.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    do throws(PreferenceError) { try replace([key], by: JSONText(of: value, forKey: key)?.string) } catch {
      throw error.at(path)
    }
  }

  /// Removes the value of the key, if there is one.
  public func removeValue(forKey key: String) throws(PreferenceError) { try replace([key], by: nil) }

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

  /// Sets the text of the first key, or removes this key for nil, and removes the other keys; with `erasing`, erases
  /// their former values from the store.
  ///
  /// - Returns: False, with nothing changed, if `known` is given and the keys no longer have these texts.
  @discardableResult
  package func replace(
    _ keys: [String], by json: String?, ifStill known: [String?]? = nil, erasing: Bool = false
  ) throws(PreferenceError) -> Bool {
    let text = json.map { JSONText($0) }
    #if !os(Windows)
      if keys.count == 1, let store = self as? FilePreferenceStore {
        let known = known.map { PreferenceChange(key: keys[0], text: $0[0].map { JSONText($0) }) }
        return try store.file.set(text, forKey: keys[0], store.terms, ifStill: known, erasing: erasing)
      }
    #endif
    var isStill = true
    try change { changes throws(PreferenceError) in
      if let known { isStill = try known == keys.map { key throws(PreferenceError) in try changes.json(forKey: key) } }
      guard isStill else { return }
      for key in keys.dropFirst() { changes.stage(nil, forKey: key, erasing: erasing) }
      changes.stage(text, forKey: keys[0], erasing: erasing)
    }
    return isStill
  }

  #if os(Windows)
    package var path: String? { nil }
  #else
    /// The path of the store's file, for messages; nil if there is none.
    package var path: String? {
      switch self {
      case let store as FilePreferenceStore: store.file.name
      case let store as OverridingPreferenceStore: store.base.path
      case let store as PrefixedPreferenceStore: store.base.path
      default: nil
      }
    }
  #endif

  /// Returns the changes to all keys; a store that can tell keys apart replaces this method.
  public func changes(of key: String) -> PreferenceChanges { changes() }

  /// Returns nil; a store that has signals replaces this method.
  public func signal(forKey key: String) -> PreferenceSignal? { nil }

  /// Does nothing; a store that keeps what was removed or replaced erases it in this method.
  public func compact() throws(PreferenceError) {}

  /// A stream that ends at once; a store that reports errors replaces this property.
  public var errors: AsyncStream<PreferenceError> { AsyncStream { $0.finish() } }

  /// Reports an error to the readers of ``errors``, if the store is an ``ErrorReporter`` or has a hub.
  package func report(_ error: PreferenceError) {
    if let store = self as? any ErrorReporter {
      store.reportError(error)
    } else if let store = self as? any CustomPreferenceStore {
      store.hub.report(error)
    }
  }
}

/// A type that reports errors in its own way, instead of through the hub of a ``CustomPreferenceStore``.
package protocol ErrorReporter: PreferenceStore { func reportError(_ error: PreferenceError) }

// MARK: Migration

extension PreferenceStore {
  /// Migrates the store to a version that the program defines, and does so only once.
  ///
  /// The body is passed the version of the store, or 0 if the store has none, and makes the necessary changes. The same
  /// transaction stores the new version under the key `#version`, so that a migration happens as a whole or not at all,
  /// and only once even if two processes start together. A store with this or a later version isn't changed.
  ///
  /// ```swift
  /// try store.migrate(to: 2) { version, changes in
  ///   if version < 1 { try changes.moveValue(forKey: "loudness", to: "volume") }
  ///   if version < 2 { changes.removeValue(forKey: "legacy") }
  /// }
  /// ```
  ///
  /// - Returns: Whether the body ran.
  /// - Throws: What the body throws, or a `PreferenceError`. Nothing is changed then, and the next call tries again.
  @discardableResult
  public func migrate(
    to version: Int, _ body: (_ from: Int, _ changes: inout PreferenceTransaction) throws -> Void
  ) throws -> Bool {
    // Most launches of a program migrate nothing, and can find this out without a lock.
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

/// The failures that a write survives once it has returned.
public enum Durability: Sendable {
  /// The end of the process, even by `kill -9`: the kernel has the value. Costs four system calls.
  case written
  /// A power failure, too: the value is on the disk. Costs a synchronization of the disk, 0.1 to 10 milliseconds.
  ///
  /// The store trusts the disk's answer to `fdatasync` on Linux or `F_FULLFSYNC` on Apple platforms, for the file and,
  /// if necessary, its folder. On a file system without `F_FULLFSYNC`, `fsync` leaves the value in the disk's cache.
  case synced
}

// MARK: Platforms without a file store

#if os(Windows)
  /// A placeholder for the store in a file, which isn't available on Windows.
  @available(
    *, unavailable,
    message: "The file store isn't written for Windows. Use MemoryPreferenceStore, or implement CustomPreferenceStore."
  )
  public final class FilePreferenceStore {}
#endif
