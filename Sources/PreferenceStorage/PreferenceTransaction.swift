/// A view of a store's values, which the body of a transaction reads and changes.
///
/// A transaction reads the values that the store had when the transaction began, and its own changes. Other readers see
/// the changes after the body has returned, and never see them if the body throws.
public struct PreferenceTransaction: ~Copyable {
  let values: any TransactionValues
  private var staged: [String: JSONText?] = [:]
  private var order: [String] = []
  /// The keys whose former values the store has to erase from its medium.
  private(set) var erasedKeys: Set<String> = []

  init(on values: any TransactionValues) { self.values = values }

  /// Returns the value of the key within the transaction, or nil if there is none.
  ///
  /// - Throws: `.typeMismatch` if the value can't be read as the type; `.invalidKey` if the key is empty or too long.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try ValueTable.check(key)
    return try text(forKey: key)?.value(type, forKey: key)
  }

  /// Sets the value of the key; nil removes the key.
  ///
  /// - Throws: `.invalidKey` if the key is empty or too long; `.invalidValue` if the value can't be encoded.
  public mutating func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    stage(try JSONText(of: value, forKey: key), forKey: key)
  }

  /// Returns the value of the key as JSON text in one line, or nil if there is none.
  public func json(forKey key: String) throws(PreferenceError) -> String? { try text(forKey: key)?.string }

  /// Sets the value of the key to a value that is given as JSON text; `null` and nil remove the key.
  ///
  /// - Throws: `.invalidKey` if the key is empty or too long; `.invalidValue` if the text isn't JSON or is nested more
  ///   than 511 levels deep.
  public mutating func set(json: String?, forKey key: String) throws(PreferenceError) {
    try ValueTable.check(key)
    stage(try JSONText(json: json, forKey: key), forKey: key)
  }

  /// Removes the value of the key, if there is one.
  public mutating func removeValue(forKey key: String) { stage(nil, forKey: key) }

  /// Removes every value.
  public mutating func removeAll() { for key in keys { stage(nil, forKey: key) } }

  /// Moves a value of any type from an old key to a new key, and replaces the value of the new key.
  ///
  /// - Returns: Whether the old key had a value.
  /// - Throws: `.invalidKey` if the new key is empty or too long, or an error of the store's medium.
  @discardableResult
  public mutating func moveValue(forKey oldKey: String, to newKey: String) throws(PreferenceError) -> Bool {
    try ValueTable.check(newKey)
    guard let text = try text(forKey: oldKey) else { return false }
    if oldKey != newKey {
      stage(nil, forKey: oldKey)
      stage(text, forKey: newKey)
    }
    return true
  }

  /// The keys within the transaction: first the keys of the store, then the keys that the transaction adds.
  public var keys: [String] {
    var keys = values.keys
    let old = Set(keys)
    keys.removeAll { key in staged[key].map { $0 == nil } ?? false }
    keys += order.filter { !old.contains($0) && staged[$0] != .some(nil) }
    return keys
  }

  /// Returns the hub of the store that keeps the key's value, and the key in that store; nil if the store has no hub.
  func home(ofKey key: String) -> (hub: PreferenceHub, key: String)? { values.home(ofKey: key) }

  package func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    if let text = staged[key] { return text }
    return try values.text(forKey: key)
  }

  mutating func stage(_ text: JSONText?, forKey key: String) {
    if staged.updateValue(text, forKey: key) == nil { order.append(key) }
  }

  /// Sets the text of the key.
  ///
  /// If `erasing` is true and the key has another value, the store erases that value from its medium.
  package mutating func stage(_ text: JSONText?, forKey key: String, erasing: Bool) {
    if erasing { erasedKeys.insert(key) }
    stage(text, forKey: key)
  }

  /// Whether the transaction replaces or removes the value of an erasing key; see ``PreferenceKey/erasing``.
  ///
  /// A store that implements `transaction` itself must read this property before it writes the changes. If the property
  /// was true, the store must call its `compact()` after the write.
  public var erasesValues: Bool {
    if erasedKeys.isEmpty { return false }
    return changes.contains { change in
      guard erasedKeys.contains(change.key) else { return false }
      // If the old value can't be read, the medium may have a value that must be erased.
      do throws(PreferenceError) { return try values.text(forKey: change.key) != nil } catch { return true }
    }
  }

  /// The changes to write, in the order in which the body first changed the keys.
  ///
  /// A key whose new value is equal to its old value is omitted.
  public var changes: [PreferenceChange] {
    order.compactMap { key in staged[key].flatMap { values.change(to: $0, forKey: key) } }
  }

  /// The last change that the body made to each key, even if the new value is equal to the old value.
  var stagedChanges: [PreferenceChange] {
    order.compactMap { key in
      staged[key].map { values.change(to: $0, forKey: key) ?? PreferenceChange(key: key, text: $0) }
    }
  }

  var hasEqualValues: Bool { changes.count < order.count }
}

/// A type that provides the values of the keys that a transaction hasn't changed.
protocol TransactionValues {
  var keys: [String] { get }
  func home(ofKey key: String) -> (hub: PreferenceHub, key: String)?
  func text(forKey key: String) throws(PreferenceError) -> JSONText?
  /// Returns the change that sets the key's value to `text`, or that removes the key if `text` is nil.
  ///
  /// The result is nil if the change would have no effect. A store may use another spelling of the key in the change,
  /// such as the spelling in its file.
  func change(to text: JSONText?, forKey key: String) -> PreferenceChange?
}

/// A change to one key, which either sets a new value or removes the key.
public struct PreferenceChange: Sendable, Equatable {
  /// The changed key, which may contain any characters.
  public internal(set) var key: String
  /// The new text of the value; nil to remove the key.
  var text: JSONText?

  /// The new value as JSON text in one line; nil if the change removes the key.
  public var json: String? { text?.string }
}
