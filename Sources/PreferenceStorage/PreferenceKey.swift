/// The names of declared preference keys, as static properties.
///
/// ```swift
/// extension PreferenceKeys {
///   static let volume = PreferenceKey("volume", default: 5)
///   static let token = PreferenceKey<String?>("token")
/// }
///
/// @Preference(.volume) var volume
/// try store.set(8, for: .volume)
/// ```
///
/// `@unchecked Sendable`: it has no state; a class that isn't final can't be checked.
public class PreferenceKeys: @unchecked Sendable {
  fileprivate init() {}
}

/// A preference's key with its type and its default, declared once for all its uses.
///
/// `@unchecked Sendable`: it never changes, and its default is a `@Sendable` closure; a subclass can't be checked.
public final class PreferenceKey<Value: Codable & Sendable>: PreferenceKeys, @unchecked Sendable {
  /// The key in the store.
  public let name: String
  private let makeDefault: @Sendable () -> Value

  /// Declares a key with a default.
  ///
  /// - Parameters:
  ///   - name: The key in the store.
  ///   - defaultValue: What the preference reads as while it isn't set. Evaluated at each such read; never stored.
  public init(_ name: String, default defaultValue: @escaping @autoclosure @Sendable () -> Value) {
    self.name = name
    makeDefault = defaultValue
  }

  /// Declares a key of a preference that is nil until it is set, by its name in the store.
  public init(_ name: String) where Value: ExpressibleByNilLiteral {
    self.name = name
    makeDefault = { nil }
  }

  /// The value of the preference while it isn't set; evaluated at each access.
  public var defaultValue: Value { makeDefault() }
}

extension PreferenceStore {
  /// Returns the value of the key, or its default, as ``value(_:forKey:)`` does.
  public func value<Value>(_ key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue
  }

  /// Sets the value of the key, or removes it for nil, as ``set(_:forKey:)`` does.
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    try set(value, forKey: key.name)
  }

  /// Removes the value of the key, which then reads as its default.
  public func removeValue<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) {
    try removeValue(forKey: key.name)
  }
}

extension PreferenceTransaction {
  /// Returns the value of the key, or its default, as ``value(_:forKey:)`` does.
  public func value<Value>(_ key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue
  }

  /// Changes the value of the key, or removes it for nil, as ``set(_:forKey:)`` does.
  public mutating func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    try set(value, forKey: key.name)
  }
}

// MARK: Former keys

/// A key that a preference had before, and how its value was kept under it.
///
/// ```swift
/// @Preference("name", formerly: "nickname", "nick") var name = "guest"
/// @Preference("theme", formerly: .encoded("look")) var theme = Theme()
/// ```
public struct FormerPreferenceKey: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The former key.
  public let key: String
  /// Whether the value is kept in encoded form.
  public internal(set) var isEncoded = false

  /// A former key whose value is a string with JSON in it, or data with JSON or a property list in it.
  ///
  /// That is how programs keep a `Codable` value in `UserDefaults`, themselves or by a library such as Defaults.
  public static func encoded(_ key: String) -> FormerPreferenceKey { FormerPreferenceKey(key: key, isEncoded: true) }
}

extension FormerPreferenceKey {
  /// A former key with a value of the same type.
  public init(stringLiteral key: String) { self.init(key: key) }

  /// A former key with a value of the same type.
  public init(_ key: String) { self.init(key: key) }

  /// Returns the value that the former key's text spells, or nil if it has none.
  ///
  /// - Throws: `.typeMismatch` if the value can't be read as that type.
  package func value<Value: Codable>(_ type: Value.Type, of json: String?) throws(PreferenceError) -> Value? {
    try ValueTable.check(key)
    guard let text = json.map({ JSONText($0) }) else { return nil }
    guard isEncoded else { return try text.value(type, forKey: key) }
    do { return try text.decodeEncoded(type) } catch {
      throw PreferenceError(
        .typeMismatch, "the value isn't a \(type) that was encoded as JSON or as a property list; it was kept",
        key: key, underlying: error)
    }
  }
}
