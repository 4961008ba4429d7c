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

  /// Declares a key of a preference that is nil until it is set.
  ///
  /// - Parameter name: The key in the store.
  public init(_ name: String) where Value: ExpressibleByNilLiteral {
    self.name = name
    makeDefault = { nil }
  }

  /// What the preference reads as while it isn't set; evaluated at each access.
  public var defaultValue: Value { makeDefault() }
}

extension PreferenceStore {
  /// Returns the value of the key, or its default.
  ///
  /// - Throws: What ``value(_:forKey:)`` throws.
  public func value<Value>(_ key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue
  }

  /// Sets the value of the key; nil removes it.
  ///
  /// - Throws: What ``set(_:forKey:)`` throws.
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    try set(value, forKey: key.name)
  }

  /// Removes the value of the key, which then reads as its default.
  ///
  /// - Throws: What ``removeValue(forKey:)`` throws.
  public func removeValue<Value>(for key: PreferenceKey<Value>) throws(PreferenceError) {
    try removeValue(forKey: key.name)
  }
}

extension PreferenceTransaction {
  /// Returns the value of the key as the transaction has it, or its default.
  ///
  /// - Throws: `.typeMismatch` or `.invalidKey`.
  public func value<Value>(_ key: PreferenceKey<Value>) throws(PreferenceError) -> Value {
    try value(Value.self, forKey: key.name) ?? key.defaultValue
  }

  /// Changes the value of the key; nil removes it.
  ///
  /// - Throws: `.invalidKey` or `.invalidValue`.
  public mutating func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws(PreferenceError) {
    try set(value, forKey: key.name)
  }
}
