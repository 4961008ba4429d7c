internal import Support

/// A configuration for initializers: text values by service, release stage and key.
///
/// ```swift
/// struct AppConfiguration: Configurable {
///   var serviceStorage: ServiceStorage = ["Crash": [.production: ["Host": "crashes.example.com"]]]
///   func currentStage() -> ReleaseStage { .production }
///   static func defaultConfiguration() -> Self { Self() }
/// }
/// let host = AppConfiguration().value(for: "Crash", key: "Host")
/// ```
///
/// Take secrets from the environment and not from the source. Nothing in this module prints a value. The steps
/// of a launch read the configuration concurrently.
public protocol Configurable: Sendable {
  /// The values of the configuration for all services and stages.
  var serviceStorage: ServiceStorage { get }

  /// Returns the release stage of the program, which selects the values that apply.
  func currentStage() -> ReleaseStage

  /// Returns the configuration that a program uses by default.
  ///
  /// A launch doesn't call this method. If reading a configuration can fail, for example from a file, give the type an
  /// initializer that throws, and pass the configuration that it creates to the `LaunchSequence`.
  static func defaultConfiguration() -> Self

  /// Returns the value of a service's key, or nil if the key has no value.
  ///
  /// By default, returns the value in ``serviceStorage`` for the current stage.
  func value(for service: String, key: String) -> String?
}

extension Configurable {
  /// Returns the key's value in ``serviceStorage`` for the current stage, or nil if the key has no value.
  public func value(for service: String, key: String) -> String? { serviceStorage[service]?[currentStage()]?[key] }

  /// Returns the value of a required key, or throws a ``ConfigurationError`` of code `.missing`.
  public func requiredValue(for service: String, key: String) throws(ConfigurationError) -> String {
    if let value = value(for: service, key: key) { return value }
    throw missing(service, key)
  }

  private func missing(_ service: String, _ key: String) -> ConfigurationError {
    let text = "no value in stage \(currentStage()).\(hint(for: service, key: key))"
    return ConfigurationError(.missing, service: service, key: key, text)
  }

  /// Returns advice about a missing value, or an empty string if ``serviceStorage`` has nothing to suggest.
  ///
  /// The advice names the stages in which the key has a value. If no stage has one, the service or the key is
  /// unknown. The advice then suggests an existing name that is similar to the unknown name. If no name is similar, the
  /// advice lists up to ten existing names.
  private func hint(for service: String, key: String) -> String {
    func hint(_ wanted: String, among names: some Sequence<String>, _ kind: String) -> String {
      let names = Set(names).sorted()
      if let meant = wanted.closestMatch(among: names) { return " Did you mean \(meant)?" }
      if names.isEmpty { return "" }
      let more = names.count > 10 ? ", and \(names.count - 10) more" : ""
      return " The configuration has the \(kind): \(names.prefix(10).joined(separator: ", "))\(more)."
    }
    guard let stages = serviceStorage[service] else { return hint(service, among: serviceStorage.keys, "services") }
    let having = stages.filter { $0.value[key] != nil }.keys.map(\.rawValue).sorted()
    if !having.isEmpty { return " It has one in: \(having.joined(separator: ", "))." }
    return hint(key, among: stages.values.flatMap(\.keys), "keys")
  }

  /// Returns the value of a key as a number, a Bool, or another type that is created from text.
  ///
  /// The result is nil if the key has no value. For a Bool, the texts `true`, `yes`, `on` and `1` mean true, and
  /// `false`, `no`, `off` and `0` mean false, in upper or lower case.
  ///
  /// - Throws: ``ConfigurationError`` of code `.malformed` if the value can't be read as the type. The error doesn't
  ///   contain the value.
  public func value<Value: LosslessStringConvertible>(
    for service: String, key: String, as type: Value.Type
  ) throws(ConfigurationError) -> Value? {
    guard let text = value(for: service, key: key) else { return nil }
    if type == Bool.self {
      switch text.lowercased() {
      case "true", "yes", "on", "1": return true as? Value
      case "false", "no", "off", "0": return false as? Value
      default: break
      }
    }
    if let value = Value(text) { return value }
    throw ConfigurationError(
      .malformed, service: service, key: key,
      "the value can't be read as \(type). Correct the value that \(Self.self) returns for stage \(currentStage()).")
  }

  /// Returns the value of a required key, converted from text to `type`, or throws a ``ConfigurationError``.
  ///
  /// The error's code is `.missing` if the key has no value, or `.malformed` if the value can't be read as the type.
  public func requiredValue<Value: LosslessStringConvertible>(
    for service: String, key: String, as type: Value.Type
  ) throws(ConfigurationError) -> Value {
    if let value = try value(for: service, key: key, as: type) { return value }
    throw missing(service, key)
  }
}

/// A release stage of a program, such as `development`, for which a configuration has separate values.
///
/// Any name is valid.
public struct ReleaseStage: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The stage's name, such as `production`.
  public let rawValue: String
  /// The stage's name, the same as ``rawValue``.
  public var description: String { rawValue }

  /// Creates a stage with a name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Creates a stage with the name in a string literal.
  public init(stringLiteral name: String) { rawValue = name }

  /// The stage of a program that runs on a developer's machine.
  public static let development = ReleaseStage(rawValue: "development")
  /// The stage of a program that runs under test.
  public static let test = ReleaseStage(rawValue: "test")
  /// The stage of a program that its users run.
  public static let production = ReleaseStage(rawValue: "production")
}

/// The values of a configuration by service, stage and key: `["Crash": [.production: ["Host": "…"]]]`.
public typealias ServiceStorage = [String: [ReleaseStage: [String: String]]]

/// An error about a missing or malformed value of a configuration.
///
/// The error never shows the value, because the value may be a secret.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// A kind of error.
  ///
  /// More kinds may be added, so a `switch` over a code needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, such as `missing`.
    public let description: String

    /// A required key has no value.
    public static let missing = Code(description: "missing")
    /// The value can't be read as the requested type.
    public static let malformed = Code(description: "malformed")
  }

  /// The kind of error, such as `.missing`.
  public let code: Code
  /// The service whose value is missing or malformed.
  public let service: String
  /// The key whose value is missing or malformed.
  public let key: String
  /// A text with the service, the key, the problem and, if possible, advice.
  public let description: String
  /// The same text as ``description``.
  public var errorDescription: String? { description }

  init(_ code: Code, service: String, key: String, _ message: String) {
    (self.code, self.service, self.key, description) = (code, service, key, "\(service).\(key): \(message)")
  }
}
