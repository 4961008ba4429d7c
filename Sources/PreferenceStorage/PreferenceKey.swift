/// The namespace of declared preference keys, each a static property in an extension of this class.
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
/// `@unchecked Sendable`: the class has no state, but the compiler can't check a class that isn't final.
public class PreferenceKeys: @unchecked Sendable {
  fileprivate init() {}
}

/// A preference's key, type and default value, declared once for all uses.
///
/// Declare the key as a static constant in an extension of ``PreferenceKeys``.
///
/// `@unchecked Sendable`: all properties are constants of `Sendable` types, but the compiler can't check a class with a
/// superclass.
public final class PreferenceKey<Value: Codable & Sendable>: PreferenceKeys, @unchecked Sendable {
  /// The key in the store.
  public let name: String
  private let makeDefault: @Sendable () -> Value
  /// Whether a value that is replaced or removed through this key is erased from the store's medium at once.
  package let isErasing: Bool

  private init(_ name: String, isErasing: Bool, _ makeDefault: @escaping @Sendable () -> Value) {
    (self.name, self.isErasing, self.makeDefault) = (name, isErasing, makeDefault)
  }

  /// Creates a key with a default value.
  ///
  /// - Parameters:
  ///   - name: The key in the store.
  ///   - defaultValue: The value of the preference while it isn't set. A read doesn't store this value. In a store with
  ///     a ``PreferenceHub``, the first read of the unset preference makes the value, and later reads return the same
  ///     value. If the program uses more than 10,000 keys of the store, a later read may make a new value.
  public init(_ name: String, default defaultValue: @escaping @autoclosure @Sendable () -> Value) {
    (self.name, isErasing, makeDefault) = (name, false, defaultValue)
  }

  /// Creates the key of an Optional preference, which is nil until it is set.
  ///
  /// - Parameter name: The key in the store.
  public init(_ name: String) where Value: ExpressibleByNilLiteral {
    (self.name, isErasing, makeDefault) = (name, false, { nil })
  }

  /// A copy of this key that erases replaced and removed values from the store's medium.
  ///
  /// ```swift
  /// static let token = PreferenceKey<String?>("token").erasing
  /// ```
  ///
  /// Without erasing, a former value stays in the file as plain text until the file is compacted. With an erasing key,
  /// each change costs a ``PreferenceStore/compact()``, for which a file store writes and synchronizes all values. If
  /// the compaction fails, the new value is kept, and the former value may remain in the file: call `compact()` to try
  /// again. The store's methods throw the error; an assignment to a property reports it in
  /// ``PreferenceStore/errors``. Operations that name the key by a string, and `removeAll()`, erase nothing.
  public var erasing: PreferenceKey { PreferenceKey(name, isErasing: true, makeDefault) }

  /// The value of the preference while it isn't set.
  ///
  /// Each access to this property makes a new value. Reads of the unset preference from a store usually share one value;
  /// see ``init(_:default:)``.
  public var defaultValue: Value { makeDefault() }

  /// Returns the default that the hub in `home` keeps for the preference, or a new default if `home` is nil.
  package func defaultValue(at home: (hub: PreferenceHub, key: String)?) -> Value {
    guard let home else { return makeDefault() }
    return home.hub.declarations.defaultValue(forKey: home.key, at: nil, make: makeDefault)
  }

  fileprivate func text(of value: Value) throws(PreferenceError) -> JSONText? {
    try JSONText(of: value, forKey: name, default: makeDefault())
  }
}

extension PreferenceStore {
  /// Returns the value of the key, or the key's default if no value is set; see ``value(_:forKey:)``.
  public func value<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue(at: home(ofKey: key.name))
  }

  /// Sets the value of the key; see ``set(_:forKey:)``.
  ///
  /// Nil removes the key if the default is nil; if the default isn't nil, nil is stored.
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    do throws(PreferenceError) {
      try replace(key.name, by: key.text(of: value), erasing: key.isErasing)
    } catch { throw error.at(path) }
  }

  /// Removes the value of the key, so that reads return the default.
  public func removeValue<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) {
    try replace(key.name, by: nil, erasing: key.isErasing)
  }
}

extension PreferenceTransaction {
  /// Returns the value of the key, or the key's default if no value is set; see ``value(_:forKey:)``.
  public func value<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue(at: home(ofKey: key.name))
  }

  /// Sets the value of the key; see ``set(_:forKey:)``.
  ///
  /// Nil removes the key if the default is nil; if the default isn't nil, nil is stored.
  public mutating func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    stage(try key.text(of: value), forKey: key.name, erasing: key.isErasing)
  }
}

// MARK: Former keys

/// A key under which a preference was stored in the past, and the form in which its value was stored.
///
/// ```swift
/// @Preference("name", formerly: "nickname", "nick") var name = "guest"
/// @Preference("theme", formerly: .encoded("look")) var theme = Theme()
/// ```
public struct FormerPreferenceKey: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The former key in the store.
  package let key: String
  /// Whether the value is encoded within a string or data; see ``encoded(_:)``.
  var isEncoded = false

  /// Returns a former key whose value is encoded in a string (as JSON) or in data (as JSON or a property list).
  ///
  /// Some programs store `Codable` values in this form in `UserDefaults`, with their own code or with a library such as
  /// Defaults.
  public static func encoded(_ key: String) -> FormerPreferenceKey { FormerPreferenceKey(key: key, isEncoded: true) }
}

extension FormerPreferenceKey {
  /// Creates a former key whose value can be read as the type of the preference.
  public init(stringLiteral key: String) { self.init(key: key) }

  /// Creates a former key whose value can be read as the type of the preference.
  public init(_ key: String) { self.init(key: key) }

  /// Returns the value that is decoded from the text that a store keeps under this key, or nil if `text` is nil.
  ///
  /// - Throws: `.typeMismatch` if the value isn't of the type, or `.invalidKey` if this key is empty or too long.
  package func value<Value: Codable>(_ type: Value.Type, of text: JSONText?) throws(PreferenceError) -> Value? {
    try ValueTable.check(key)
    guard let text else { return nil }
    guard isEncoded else { return try text.value(type, forKey: key) }
    do { return try text.decodeEncoded(type) } catch {
      throw PreferenceError(
        .typeMismatch, "the value isn't a \(type) that was encoded as JSON or as a property list; it was kept",
        key: key, underlying: error)
    }
  }
}
