/// A type that stores values by key and keeps them from one run of the program to the next.
///
/// A value is stored when the call that sets it returns. Each type of store documents the failures that a stored value
/// survives, such as a crash or a power failure. Any thread may call any operation.
///
/// A key is any string of 1 to 65,536 bytes. Equal Swift strings, such as two spellings of `é`, are one key. A value
/// has any `Codable` type. Integers, floating-point numbers including infinities, `Date` and `Data` are stored exactly,
/// even inside other values. A NaN is stored as a NaN, without its payload. Setting an Optional to nil removes the key.
///
/// ```swift
/// let store = try FilePreferenceStore(url: file)
/// try store.set(7, forKey: "volume")
/// try store.value(Int.self, forKey: "volume")  // 7
/// ```
///
/// A custom store conforms to ``CustomPreferenceStore``. `PreferenceStoreSuite` in `SpellTesting` has tests for it.
public protocol PreferenceStore: AnyObject, Sendable, CustomStringConvertible {
  /// Returns the value of the key, or nil if there is none.
  ///
  /// - Throws: `.typeMismatch` if the value, which stays stored, can't be read as the type; `.invalidKey` if the key is
  ///   empty or too long; `.unreadable` or a similar error if the store's medium can't be read.
  func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value?

  /// Sets the value of the key, unless the key already has an equal value; nil removes the key.
  ///
  /// Values are compared as JSON text. The texts of equal sets can differ, since the order of a set's elements
  /// isn't fixed.
  ///
  /// - Throws: `.invalidKey` if the key is empty or too long; `.invalidValue` if the value can't be encoded; or an
  ///   error of the store's medium. After an error, the key keeps its old value, unless only synchronizing the medium
  ///   failed.
  func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError)

  /// Removes the value of the key, if there is one.
  func removeValue(forKey key: String) throws(PreferenceError)

  /// Removes every value, in one transaction.
  func removeAll() throws(PreferenceError)

  /// The keys in the order of their first writes.
  ///
  /// A key that was removed, and that a later write sets again, counts as new.
  ///
  /// - Complexity: O(*n* log *n*).
  var keys: [String] { get }

  /// Returns the JSON text that the store keeps for the key, as a single line, or nil if the key has no value.
  ///
  /// - Throws: `.unreadable` or a similar error if the store's medium can't be read.
  func json(forKey key: String) throws(PreferenceError) -> String?

  /// Reads and changes several values as a unit, with no other write in between.
  ///
  /// Readers of the store see all of the changes or none. The body runs on the calling thread, and only once unless the
  /// store documents otherwise. If the body throws, nothing is changed. The body must read and write through the
  /// transaction that it receives. A read through the transaction sees the changes that the body has made so far.
  /// Within the body, a write to the store itself throws `.nestedTransaction`, and a read of the store returns the
  /// values from before the transaction.
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

  /// Returns a sequence of the changes that this process or another makes from now on; see ``PreferenceChanges``.
  func changes() -> PreferenceChanges

  /// Returns a sequence of the changes to one key from now on, or to all keys if the store can't distinguish keys.
  func changes(of key: String) -> PreferenceChanges

  /// Returns the signal that notifies properties and observers of changes to the key; nil if the store has no signals.
  ///
  /// If the store returns nil, a property decodes its value at each read, and observers aren't notified of changes.
  func signal(forKey key: String) -> PreferenceSignal?

  /// The errors that could not be thrown to a caller, such as a property's failed write, or a failed compaction.
  ///
  /// Each access returns a new stream. A reader that is more than 64 errors behind misses the oldest errors.
  var errors: AsyncStream<PreferenceError> { get }

  /// Reads the values that other processes have written since the last read, if the store's medium is shared.
  func reload() throws(PreferenceError)

  /// Waits until all values written so far would survive a power failure, if the store's medium can ensure it.
  func synchronize() throws(PreferenceError)

  /// Erases removed and replaced values from the store's medium, for instance a token after a sign-out.
  ///
  /// A store that keeps only current values, for instance in memory, has nothing to erase.
  ///
  /// - Throws: A `PreferenceError`, such as `.unwritable`, `.noSpace`, `.unreadable` or `.busy`. After an error, the
  ///   store has its current values, and removed or replaced values may remain in the medium.
  func compact() throws(PreferenceError)
}

extension PreferenceStore {
  /// The type, the path of the file if there is one, and the keys.
  public var description: String { "\(type(of: self))\(path.map { " at \($0)" } ?? "") with keys \(keys)" }

  /// Returns the value of the key, or nil if there is none.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try readValue(type, forKey: key)
  }

  /// Returns the value that the key's JSON text encodes, or nil if the key has no text.
  ///
  /// A store that implements `value(_:forKey:)` itself can call this method.
  func readValue<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    do throws(PreferenceError) {
      try ValueTable.check(key)
      return try json(forKey: key).map { JSONText($0) }?.value(type, forKey: key)
    } catch { throw error.at(path) }
  }

  /// Sets the value of the key; nil removes the key.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    do throws(PreferenceError) { try replace(key, by: JSONText(of: value, forKey: key)) } catch {
      throw error.at(path)
    }
  }

  /// Removes the value of the key, if there is one.
  public func removeValue(forKey key: String) throws(PreferenceError) { try replace(key, by: nil) }

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

  /// Sets the text of the key, or removes the key if `text` is nil, and removes the former keys.
  ///
  /// If `erasing` is true, the former values of all the keys are erased from the store's medium.
  ///
  /// - Parameter known: The texts that the key and the former keys must still have; nil to set the text in any case.
  /// - Returns: False if the keys no longer have the texts in `known`, so nothing is changed; otherwise, true.
  @discardableResult
  package func replace(
    _ key: String, _ formerKeys: [String] = [], by text: JSONText?, ifStill known: [JSONText?]? = nil,
    erasing: Bool = false
  ) throws(PreferenceError) -> Bool {
    #if !os(Windows)
      if formerKeys.isEmpty, let store = self as? FilePreferenceStore {
        return try store.file.set(text, forKey: key, store.terms, ifStill: known, erasing: erasing)
      }
    #endif
    var isStill = true
    try change { changes throws(PreferenceError) in
      let keys = [key] + formerKeys
      if let known { isStill = try known == keys.map { key throws(PreferenceError) in try changes.text(forKey: key) } }
      guard isStill else { return }
      for key in formerKeys { changes.stage(nil, forKey: key, erasing: erasing) }
      changes.stage(text, forKey: key, erasing: erasing)
    }
    return isStill
  }

  #if os(Windows)
    package var path: String? { nil }
  #else
    /// The path of the store's file, for messages; nil if the store isn't in a file.
    package var path: String? {
      switch self {
      case let store as FilePreferenceStore: store.file.name
      case let store as OverridingPreferenceStore: store.base.path
      case let store as PrefixedPreferenceStore: store.base.path
      default: nil
      }
    }
  #endif

  /// Returns the changes to all keys, as the default implementation for a store that can't distinguish keys.
  public func changes(of key: String) -> PreferenceChanges { changes() }

  /// Returns nil, as the default implementation for a store without signals.
  public func signal(forKey key: String) -> PreferenceSignal? { nil }

  /// Does nothing, as the default implementation for a store whose medium keeps only current values.
  public func compact() throws(PreferenceError) {}

  /// A stream that ends immediately, as the default implementation for a store that reports no errors.
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

/// A store that reports errors in its own way, instead of through the hub of a ``CustomPreferenceStore``.
package protocol ErrorReporter: PreferenceStore { func reportError(_ error: PreferenceError) }

// MARK: Migration

extension PreferenceStore {
  /// Migrates the store to a version that the program defines, unless the store already has this version.
  ///
  /// The body receives the current version of the store, or 0 if the store has none, and makes the necessary changes.
  /// The same transaction stores the new version under the key `#version`. A migration therefore happens as a whole or
  /// not at all, and only once even if two processes start together. A store with a later version isn't changed.
  ///
  /// ```swift
  /// try store.migrate(to: 2) { version, changes in
  ///   if version < 1 { try changes.moveValue(forKey: "loudness", to: "volume") }
  ///   if version < 2 { changes.removeValue(forKey: "legacy") }
  /// }
  /// ```
  ///
  /// - Returns: Whether the body ran.
  /// - Throws: What the body throws, or a `PreferenceError`. After an error, nothing is changed, and the next call
  ///   tries again, unless only synchronizing the store failed.
  @discardableResult
  public func migrate(
    to version: Int, _ body: (_ from: Int, _ changes: inout PreferenceTransaction) throws -> Void
  ) throws -> Bool {
    // Most launches of a program have nothing to migrate, and needn't wait for the store's lock.
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
  /// A write survives the end of the process, even by `kill -9`, because the kernel has the value.
  ///
  /// Most writes cost four system calls.
  case written
  /// A write survives the end of the process and a power failure, because the value is on the disk.
  ///
  /// A write costs a synchronization of the disk, which takes 0.1 to 10 milliseconds. On Linux, the store calls
  /// `fdatasync` for the file and, if necessary, `fsync` for its folder. On Apple platforms, the store uses
  /// `F_FULLFSYNC` for the file and the folder. The store trusts the disk's report that the value is saved. On a file
  /// system without `F_FULLFSYNC`, the store uses `fsync`, which leaves the value in the disk's cache.
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
