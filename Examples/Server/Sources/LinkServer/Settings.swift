public import PreferenceSpell
public import PreferenceStorage

/// The settings that are changed while the server runs: by the admin page, by `prefs`, or by an editor.
///
/// A struct of wrapped properties is `Sendable`, so all requests share one. A read takes a few nanoseconds, and the
/// next request sees a change of the file. A value of the wrong type or out of range stays in the file; the setting
/// then has its default, and `$property.error` has the reason.
public struct Settings: Sendable {
  /// Whether links can't be used at the moment.
  @Preference("maintenance") public var maintenance = false
  /// The text at the top of the start page.
  @Preference("greeting") public var greeting = Greeting.standard
  /// The number of requests that a user may send in a minute.
  @Preference("rateLimit") public var rateLimit = RateLimit.standard

  /// Creates settings whose values are in the registered store.
  public init() {}
}

/// A type of values that a person can type.
public protocol SettingValue: Codable, Equatable, Sendable {
  /// The default value.
  static var standard: Self { get }
  /// A description of the valid values.
  static var rule: String { get }
  /// The value as typed text.
  var text: String { get }
  /// Creates a value from typed text; nil if the text isn't a valid value.
  init?(text: String)
}

extension Bool: SettingValue {
  /// Off.
  public static var standard: Bool { false }
  /// The two values.
  public static var rule: String { "true or false" }
  /// The value's name.
  public var text: String { description }
  /// Creates a value from its name.
  public init?(text: String) { self.init(text) }
}

// A raw value that the initializer refuses can't be decoded either, so values in the file are checked like values in
// the form.

/// The text at the top of the start page.
public struct Greeting: RawRepresentable, SettingValue {
  /// The default greeting.
  public static let standard = Greeting(unchecked: "Hello")
  /// The length.
  public static let rule = "1 to 80 characters in one line"

  /// The text.
  public let rawValue: String
  /// The text.
  public var text: String { rawValue }

  private init(unchecked text: String) { rawValue = text }

  /// Creates a greeting; nil if it is empty, too long, or has several lines.
  public init?(rawValue: String) {
    guard (1...80).contains(rawValue.count), !rawValue.contains(where: \.isNewline) else { return nil }
    self.rawValue = rawValue
  }

  /// Creates a greeting from typed text.
  public init?(text: String) { self.init(rawValue: text) }
}

/// A number of requests in a minute.
public struct RateLimit: RawRepresentable, SettingValue {
  /// The default limit.
  public static let standard = RateLimit(unchecked: 600)
  /// The range.
  public static let rule = "a whole number from 1 to 100000000"

  /// The number of requests.
  public let rawValue: Int
  /// The number in digits.
  public var text: String { String(rawValue) }

  private init(unchecked limit: Int) { rawValue = limit }

  /// Creates a limit; nil if the number is out of range.
  public init?(rawValue: Int) {
    guard (1...100_000_000).contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  /// Creates a limit from digits.
  public init?(text: String) {
    guard let number = Int(text) else { return nil }
    self.init(rawValue: number)
  }
}

/// A setting of any type, for a form and a log.
public struct SettingField: Sendable {
  /// The key in the store.
  public let key: String
  /// A description of the valid values.
  public let rule: String
  /// Whether the setting is a Boolean, which the page shows as a switch.
  public let isSwitch: Bool
  /// The value that applies, as typed text.
  public let text: String
  /// The default value, as typed text.
  public let standard: String
  /// Whether the store has a value.
  public let isSet: Bool
  /// The reason that the value in the store doesn't apply; nil if it does.
  public let problem: String?

  private let write: @Sendable (String, inout PreferenceTransaction) throws -> Void

  /// Creates the field of a preference.
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

/// An error about text that isn't a valid value of a setting.
public struct RefusedSetting: Error, CustomStringConvertible {
  /// A description of the valid values.
  public let rule: String
  /// A sentence on what to do.
  public var description: String { "That was refused. Write \(rule)." }
}

extension Settings {
  /// A field for each setting.
  public var fields: [SettingField] {
    [SettingField($maintenance), SettingField($greeting), SettingField($rateLimit)]
  }
}
