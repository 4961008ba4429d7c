public import PreferenceSpell
public import PreferenceStorage

/// The settings that can be changed while the server runs, on the admin page, with `prefs`, or in a text editor.
///
/// A struct of wrapped properties is `Sendable`, so all requests share one instance. A read takes a few nanoseconds,
/// and the next request sees a change of the file. A value of the wrong type or out of range stays in the file. In this
/// case, the setting has its default, and `$property.error` has the reason.
public struct Settings: Sendable {
  /// Whether the service is in maintenance, and refuses requests for links.
  @Preference("maintenance") public var maintenance = false
  /// The text at the top of the start page.
  @Preference("greeting") public var greeting = Greeting.standard
  /// The number of requests that a user may send in a minute.
  @Preference("rateLimit") public var rateLimit = RateLimit.standard

  /// Creates settings whose values are in the registered store.
  public init() {}
}

/// A type whose values a person can enter as text.
public protocol SettingValue: Codable, Equatable, Sendable {
  /// The default value.
  static var standard: Self { get }
  /// A description of the valid values.
  static var rule: String { get }
  /// The value as a person would enter it.
  var text: String { get }
  /// Creates a value from entered text, or nil if the text isn't a valid value.
  init?(text: String)
}

extension Bool: SettingValue {
  /// The default value, which is false.
  public static var standard: Bool { false }
  /// A description of the two valid values.
  public static var rule: String { "true or false" }
  /// The value as text, `true` or `false`.
  public var text: String { description }
  /// Creates a value from the text `true` or `false`, or nil for any other text.
  public init?(text: String) { self.init(text) }
}

// Decoding a value calls `init(rawValue:)`, so values in the file are checked like values in the form.

/// The text at the top of the start page.
public struct Greeting: RawRepresentable, SettingValue {
  /// The default greeting, which is `Hello`.
  public static let standard = Greeting(unchecked: "Hello")
  /// A description of the valid length.
  public static let rule = "1 to 80 characters in one line"

  /// The text that the start page shows.
  public let rawValue: String
  /// The greeting as a person would enter it.
  public var text: String { rawValue }

  private init(unchecked text: String) { rawValue = text }

  /// Creates a greeting, or nil if the text is empty, too long, or has several lines.
  public init?(rawValue: String) {
    guard (1...80).contains(rawValue.count), !rawValue.contains(where: \.isNewline) else { return nil }
    self.rawValue = rawValue
  }

  /// Creates a greeting from entered text, or nil if the text isn't valid.
  public init?(text: String) { self.init(rawValue: text) }
}

/// A limit on the number of requests per minute.
public struct RateLimit: RawRepresentable, SettingValue {
  /// The default limit, which is 600 requests per minute.
  public static let standard = RateLimit(unchecked: 600)
  /// A description of the valid range.
  public static let rule = "a whole number from 1 to 100000000"

  /// The number of requests per minute.
  public let rawValue: Int
  /// The number in decimal digits.
  public var text: String { String(rawValue) }

  private init(unchecked limit: Int) { rawValue = limit }

  /// Creates a limit, or nil if the number is out of range.
  public init?(rawValue: Int) {
    guard (1...100_000_000).contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  /// Creates a limit from decimal digits, or nil if the text isn't a valid limit.
  public init?(text: String) {
    guard let number = Int(text) else { return nil }
    self.init(rawValue: number)
  }
}

/// A setting of any type, for display in a form or a log.
public struct SettingField: Sendable {
  /// The setting's key in the preference store.
  public let key: String
  /// A description of the valid values.
  public let rule: String
  /// Whether the setting is a Boolean, which the page shows as a switch.
  public let isSwitch: Bool
  /// The value in effect, as text.
  public let text: String
  /// The default value, as text.
  public let standard: String
  /// Whether the store has a value for the setting.
  public let isSet: Bool
  /// A message that says why the server can't use the stored value; nil if it can.
  public let problem: String?

  private let write: @Sendable (String, inout PreferenceTransaction) throws -> Void

  /// Creates a field that describes a preference.
  public init<Value: SettingValue>(_ preference: Preference<Value>.Projection) {
    key = preference.key
    rule = Value.rule
    isSwitch = Value.self is Bool.Type
    text = preference.value.text
    standard = Value.standard.text
    isSet = preference.isSet
    problem = preference.error.map(\.description)
    write = { [key] text, changes in
      guard let value = Value(text: text) else { throw RefusedSetting(rule: Value.rule) }
      try changes.set(value, forKey: key)
    }
  }

  /// Changes the setting in a transaction.
  ///
  /// - Throws: ``RefusedSetting`` if the text isn't a valid value.
  public func set(_ text: String, in changes: inout PreferenceTransaction) throws { try write(text, &changes) }
}

/// An error for text that isn't a valid value of a setting.
public struct RefusedSetting: Error, CustomStringConvertible {
  /// A description of the valid values.
  public let rule: String
  /// A message that says which values are valid.
  public var description: String { "That was refused. Write \(rule)." }
}

extension Settings {
  /// A field for each setting.
  public var fields: [SettingField] {
    [SettingField($maintenance), SettingField($greeting), SettingField($rateLimit)]
  }
}
