/// The access to values that a transaction's body has.
///
/// It reads the store as it was when the transaction began, and its own changes. No other reader sees them before the body
/// returns, and none ever does if it throws.
public struct PreferenceTransaction: ~Copyable {
  private let values: any TransactionValues
  private var staged: [String: JSONText?] = [:]
  private var order: [String] = []

  init(on values: any TransactionValues) { self.values = values }

  /// Returns the value of the key as the transaction has it, or nil if there is none.
  ///
  /// - Throws: `.typeMismatch` or `.invalidKey`.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try ValueTable.check(key)
    return try text(forKey: key)?.value(type, forKey: key)
  }

  /// Changes the value of the key; nil removes it.
  ///
  /// - Throws: `.invalidKey` or `.invalidValue`.
  public mutating func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    stage(try JSONText(of: value, forKey: key), forKey: key)
  }

  /// Returns the value of the key as JSON text in one line, or nil if there is none.
  public func json(forKey key: String) throws(PreferenceError) -> String? { try text(forKey: key)?.string }

  /// Sets the value of the key to one that is JSON text already; `null` and nil remove it.
  ///
  /// - Throws: `.invalidKey`, or `.invalidValue` if the text isn't JSON.
  public mutating func set(json: String?, forKey key: String) throws(PreferenceError) {
    try ValueTable.check(key)
    stage(try JSONText(json: json, forKey: key), forKey: key)
  }

  /// Removes the value of the key, if there is one.
  public mutating func removeValue(forKey key: String) { stage(nil, forKey: key) }

  /// Removes every value.
  public mutating func removeAll() { for key in keys { stage(nil, forKey: key) } }

  /// Gives a value another key, whatever its type, and replaces that key's value; false if the old key has no value.
  ///
  /// - Throws: `.invalidKey` if the new key can't be one.
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

  /// The keys as the transaction has them: first those that were there, then those that it added.
  public var keys: [String] {
    var keys = values.keys
    let old = Set(keys)
    keys.removeAll { key in staged[key].map { $0 == nil } ?? false }
    keys += order.filter { !old.contains($0) && staged[$0] != .some(nil) }
    return keys
  }

  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    if let text = staged[key] { return text }
    return try values.text(forKey: key)
  }

  mutating func stage(_ text: JSONText?, forKey key: String) {
    if staged.updateValue(text, forKey: key) == nil { order.append(key) }
  }

  /// The changes to write: the keys that the body touched and whose value is another now, in the order of touching.
  public var changes: [PreferenceChange] {
    order.compactMap { key in staged[key].flatMap { values.change(to: $0, forKey: key) } }
  }

  var hasEqualValues: Bool { changes.count < order.count }
}

/// The values that a transaction's body reads if it has changed nothing.
protocol TransactionValues {
  var keys: [String] { get }
  func text(forKey key: String) throws(PreferenceError) -> JSONText?
  /// The change with the key as it is spelled there; nil if it would change nothing.
  func change(to text: JSONText?, forKey key: String) -> PreferenceChange?
}

/// A change of one key, as one line of the file, or a part of it, makes it.
public struct PreferenceChange: Sendable, Equatable {
  /// The key, of any characters.
  public internal(set) var key: String
  /// The value's new text; nil removes the key.
  var text: JSONText?

  /// The key's new value as JSON, in one line; nil removes the key.
  public var json: String? { text?.string }
}
