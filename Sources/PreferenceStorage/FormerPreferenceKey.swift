#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A key that a preference had before, and how its value was kept under it.
///
/// ```swift
/// @Preference("name", formerly: "nickname", "nick") var name = "guest"
/// @Preference("theme", formerly: .encoded("theme.json")) var theme = Theme()
/// ```
public struct FormerPreferenceKey: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The former key.
  public let key: String
  /// Whether the value is kept in encoded form.
  public let isEncoded: Bool

  /// A former key with a value of the same type.
  public init(stringLiteral key: String) { self.init(key, isEncoded: false) }

  /// A former key with a value of the same type.
  public init(_ key: String) { self.init(key, isEncoded: false) }

  private init(_ key: String, isEncoded: Bool) {
    self.key = key
    self.isEncoded = isEncoded
  }

  /// A former key whose value is a string with JSON in it, or data with JSON or a property list in it.
  ///
  /// That is how programs keep a `Codable` value in `UserDefaults`, themselves or by a library such as Defaults.
  public static func encoded(_ key: String) -> FormerPreferenceKey { FormerPreferenceKey(key, isEncoded: true) }
}

extension PreferenceTransaction {
  /// Returns the value that the former key has, or nil if it has none.
  ///
  /// - Throws: `.typeMismatch` if the value can't be read as that type.
  package func value<Value: Codable>(
    _ type: Value.Type, forFormerKey former: FormerPreferenceKey
  ) throws(PreferenceError) -> Value? {
    guard former.isEncoded else { return try value(type, forKey: former.key) }
    guard let text = try text(forKey: former.key) else { return nil }
    do {
      return try text.decodeEncoded(type)
    } catch {
      throw PreferenceError(
        .typeMismatch, "the value isn't a \(type) that was encoded as JSON or as a property list; it was kept",
        key: former.key, underlying: error)
    }
  }
}

extension JSONText {
  /// The value that is encoded within a string, or within data.
  fileprivate func decodeEncoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let string = try decode(String.self)
    if let inner = JSONText(validating: string) { return try inner.decode(type) }
    let data = try decode(Data.self)
    if let inner = JSONText(validating: String(decoding: data, as: UTF8.self)) { return try inner.decode(type) }
    guard PropertyListCheck.isHarmless([UInt8](data)) else { throw PropertyListCheck.Harmful() }
    return try PropertyListDecoder().decode(type, from: data)
  }
}
