/// The namespace of declared preference keys, which are static properties in its extensions.
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
/// `@unchecked Sendable`: the class has no state; the compiler can't check a class that isn't final.
public class PreferenceKeys: @unchecked Sendable {
  fileprivate init() {}
}

/// The key of a preference with its type and its default value, declared once for all uses.
///
/// Declare it as a static constant of ``PreferenceKeys``.
///
/// `@unchecked Sendable`: the name and the `@Sendable` closure never change; the compiler can't check a subclass.
public final class PreferenceKey<Value: Codable & Sendable>: PreferenceKeys, @unchecked Sendable {
  /// The key in the store.
  public let name: String
  private let makeDefault: @Sendable () -> Value
  /// Whether a value that is replaced or removed through this key is erased from the store at once.
  package let isErasing: Bool

  private init(_ name: String, isErasing: Bool, _ makeDefault: @escaping @Sendable () -> Value) {
    (self.name, self.isErasing, self.makeDefault) = (name, isErasing, makeDefault)
  }

  /// Creates a key with a default value.
  ///
  /// - Parameters:
  ///   - name: The key in the store.
  ///   - defaultValue: The value of the preference while it isn't set: made once for each store, at the first such
  ///     read, and never stored.
  public init(_ name: String, default defaultValue: @escaping @autoclosure @Sendable () -> Value) {
    (self.name, isErasing, makeDefault) = (name, false, defaultValue)
  }

  /// Creates the key of an Optional preference, which is nil until it is set; `name` is the key in the store.
  public init(_ name: String) where Value: ExpressibleByNilLiteral {
    (self.name, isErasing, makeDefault) = (name, false, { nil })
  }

  /// The same key, which erases from the store what is replaced or removed through it.
  ///
  /// ```swift
  /// static let token = PreferenceKey<String?>("token").erasing
  /// ```
  ///
  /// Otherwise, a former value stays in the file in clear until the file is compacted. With such a key, each change of
  /// a value costs a ``PreferenceStore/compact()``, which in a file is the writing and the synchronization of all
  /// values. If the compaction fails, its error is thrown, and the new value is kept: make the change again, or call
  /// `compact()`. Operations that name the key by a string, and `removeAll()`, erase nothing.
  public var erasing: PreferenceKey { PreferenceKey(name, isErasing: true, makeDefault) }

  /// The value of the preference while it isn't set; made at each access; a store makes its own once.
  public var defaultValue: Value { makeDefault() }

  /// Returns the default of the preference in a store: the first that was made for it in this process.
  package func defaultValue(at home: (hub: PreferenceHub, key: String)?) -> Value {
    guard let home else { return makeDefault() }
    return home.hub.declarations.defaultValue(forKey: home.key, at: nil, make: makeDefault)
  }

  fileprivate func text(of value: Value) throws(PreferenceError) -> String? {
    try PreferenceText.text(of: value, forKey: name, default: makeDefault())
  }
}

extension PreferenceStore {
  /// Returns the value of the key, or the default if there is none; see ``value(_:forKey:)``.
  public func value<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue(at: home(ofKey: key.name))
  }

  /// Sets the value of the key, as ``set(_:forKey:)`` does; nil removes the key, or is stored if the default isn't nil.
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    do throws(PreferenceError) {
      try replace([key.name], by: key.text(of: value), erasing: key.isErasing)
    } catch { throw error.at(path) }
  }

  /// Removes the value of the key, so that it reads as its default again.
  public func removeValue<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) {
    try replace([key.name], by: nil, erasing: key.isErasing)
  }
}

extension PreferenceTransaction {
  /// Returns the value of the key, or the default if there is none; see ``value(_:forKey:)``.
  public func value<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue(at: home(ofKey: key.name))
  }

  /// Sets the value of the key, as ``set(_:forKey:)`` does; nil removes the key, or is stored if the default isn't nil.
  public mutating func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    stage(try key.text(of: value).map { JSONText($0) }, forKey: key.name, erasing: key.isErasing)
  }
}

// MARK: Former keys

/// A key that a preference had in the past, and how its value was stored there.
///
/// ```swift
/// @Preference("name", formerly: "nickname", "nick") var name = "guest"
/// @Preference("theme", formerly: .encoded("look")) var theme = Theme()
/// ```
public struct FormerPreferenceKey: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The former key in the store.
  package let key: String
  /// Whether the value is encoded within a string or data, as ``encoded(_:)`` describes.
  var isEncoded = false

  /// Returns a former key whose value is a string that contains JSON, or data that contains JSON or a property list.
  ///
  /// Programs store `Codable` values in this form in `UserDefaults`, by themselves or with a library such as Defaults.
  public static func encoded(_ key: String) -> FormerPreferenceKey { FormerPreferenceKey(key: key, isEncoded: true) }
}

extension FormerPreferenceKey {
  /// Creates a former key whose value has the type of the preference.
  public init(stringLiteral key: String) { self.init(key: key) }

  /// Creates a former key whose value has the type of the preference.
  public init(_ key: String) { self.init(key: key) }

  /// Returns the value that the former key's text encodes, or nil if there is no text.
  ///
  /// - Throws: `.typeMismatch` if the value isn't of the type, or `.invalidKey` if the former key is empty or too long.
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
