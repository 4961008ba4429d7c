internal import Support

/// A configuration for initializers: text values by service, release stage and key.
///
/// ```swift
/// struct AppConfiguration: Configurable {
///   var serviceStorage: ServiceStorage = ["Crash": [.production: ["ApiKey": "live"]]]
///   func currentStage() -> ReleaseStage { .production }
///   static func defaultConfiguration() -> AppConfiguration { AppConfiguration() }
/// }
/// let key = try AppConfiguration.defaultConfiguration().requiredValue(for: "Crash", key: "ApiKey")
/// ```
///
/// Values may be secrets, so nothing in this module prints one: errors and explanations name the service and the key. The
/// description of ``LayeredConfiguration`` shows no values; make sure that your own type's doesn't either.
///
/// Steps read the configuration concurrently, from any thread.
public protocol Configurable: Sendable {
  /// All values of the configuration.
  var serviceStorage: ServiceStorage { get }

  /// Returns the stage whose values apply.
  func currentStage() -> ReleaseStage

  /// Returns the configuration that a program uses by default.
  static func defaultConfiguration() -> Self

  /// Returns the value of a service's key in the current stage; nil if there is none.
  ///
  /// By default, looks it up in ``serviceStorage``, which costs three dictionary lookups.
  func value(for service: String, key: String) -> String?

  /// Returns text for a person about where a value comes from, without the value.
  func explanation(for service: String, key: String) -> String
}

extension Configurable {
  /// Returns the value in ``serviceStorage`` for the current stage.
  public func value(for service: String, key: String) -> String? {
    serviceStorage[service]?[currentStage()]?[key]
  }

  /// Returns whether ``serviceStorage`` has a value, and in which stages.
  public func explanation(for service: String, key: String) -> String {
    let stage = currentStage()
    guard let value = value(for: service, key: key) else {
      return "\(service).\(key) has no value in stage \(stage). \(hint(for: service, key: key))"
    }
    return "\(service).\(key) = \(value.redacted), from \(Self.self), stage \(stage)"
  }

  /// Advice about a missing value: what there is instead, and where a value can be set.
  private func hint(for service: String, key: String) -> String {
    let names = (self as? LayeredConfiguration)?.variableNames(for: service, key: key) ?? []
    guard !names.isEmpty else { return alternatives(for: service, key: key) }
    let variable = "Set it in the environment as \(names.joined(separator: " or "))."
    return serviceStorage.isEmpty ? variable : "\(alternatives(for: service, key: key)) \(variable)"
  }

  private func alternatives(for service: String, key: String) -> String {
    guard let stages = serviceStorage[service] else {
      let near = service.closestMatch(among: serviceStorage.keys)
      return "There is no service \(service).\(near.map { " Did you mean \($0)?" } ?? "")"
    }
    let having = stages.filter { $0.value[key] != nil }.keys.map(\.rawValue).sorted()
    if !having.isEmpty { return "It has one in: \(having.joined(separator: ", "))." }
    guard let keys = stages[currentStage()]?.keys else {
      return "\(service) has values in: \(stages.keys.map(\.rawValue).sorted().joined(separator: ", "))."
    }
    let near = key.closestMatch(among: keys)
    return near.map { "Did you mean \($0)?" } ?? "\(service) has no such key in any stage."
  }
}

// MARK: Required and typed values

extension Configurable {
  /// Returns the value of a required key.
  ///
  /// - Parameters:
  ///   - service: The service that the key is of.
  ///   - key: The key.
  /// - Returns: The value in the current stage.
  /// - Throws: ``ConfigurationError`` of code `.missing`, with the values that there are instead.
  public func requiredValue(for service: String, key: String) throws(ConfigurationError) -> String {
    guard let value = value(for: service, key: key) else {
      throw ConfigurationError(
        .missing, service: service, key: key, "no value in stage \(currentStage()). \(hint(for: service, key: key))")
    }
    return value
  }

  /// Returns the value of a key as a number, a Bool, or another type that can be created from text.
  ///
  /// ```swift
  /// let limit = try configuration.value(for: "Network", key: "Limit", as: Int.self) ?? 4
  /// ```
  ///
  /// A Bool can be written as `true`, `yes`, `on`, `1`, or `false`, `no`, `off`, `0`, in upper or lower case.
  ///
  /// - Parameters:
  ///   - service: The service that the key is of.
  ///   - key: The key.
  ///   - type: The type of the result.
  /// - Returns: The value; nil if there is none.
  /// - Throws: ``ConfigurationError`` of code `.malformed` if the value can't be read as the type. The error names the layer
  ///   and the environment variable that the value comes from, and doesn't show the value.
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
    guard let value = Value(text) else {
      let source = (self as? LayeredConfiguration)?.source(of: service, key: key) ?? "\(Self.self)"
      throw ConfigurationError(
        .malformed, service: service, key: key,
        "the value in stage \(currentStage()), from \(source), can't be read as \(type). Correct the value there.")
    }
    return value
  }

  /// Returns the value of a required key as a number, a Bool, or another type that can be created from text.
  ///
  /// - Parameters:
  ///   - service: The service that the key is of.
  ///   - key: The key.
  ///   - type: The type of the result.
  /// - Returns: The value in the current stage.
  /// - Throws: ``ConfigurationError`` of code `.missing` or `.malformed`.
  public func requiredValue<Value: LosslessStringConvertible>(
    for service: String, key: String, as type: Value.Type
  ) throws(ConfigurationError) -> Value {
    if let value = try value(for: service, key: key, as: type) { return value }
    // Throws because there is no value.
    _ = try requiredValue(for: service, key: key)
    throw ConfigurationError(
      .missing, service: service, key: key, "the value was removed while it was read. Read it again.")
  }
}

extension String {
  /// Text in place of a value, which shows only whether the value is empty.
  var redacted: String { isEmpty ? "(empty)" : "•••" }
}

// MARK: Stages

/// A release stage of a program, such as development or production, which selects its values.
///
/// Any string is a stage. Give your own stage a name in an extension:
///
/// ```swift
/// extension ReleaseStage { static let beta: ReleaseStage = "beta" }
/// ```
public struct ReleaseStage: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The stage's name, as in configuration files.
  public let rawValue: String

  /// Creates a stage with a name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a stage from a literal.
  public init(stringLiteral name: String) { rawValue = name }

  /// The stage's name.
  public var description: String { rawValue }

  /// The program runs on a developer's machine.
  public static let development = ReleaseStage(rawValue: "development")
  /// The program runs under test.
  public static let test = ReleaseStage(rawValue: "test")
  /// The program runs for its users.
  public static let production = ReleaseStage(rawValue: "production")
}

/// Values by service, then stage, then key: `["Crash": [.production: ["ApiKey": "…"]]]`.
public typealias ServiceStorage = [String: [ReleaseStage: [String: String]]]

// MARK: Errors

/// An error about a value or a file of a configuration.
///
/// Never shows a value because each may be a secret.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// The service, if the error is about a value.
  public let service: String?
  /// The key, if the error is about a value.
  public let key: String?
  /// The path of the file, if the error is about one.
  public let path: String?
  private let message: String

  init(
    _ code: Code, service: String? = nil, key: String? = nil, path: String? = nil, _ message: String
  ) {
    self.code = code
    self.service = service
    self.key = key
    self.path = path
    self.message = message
  }

  /// The service and key or the file, what is wrong, and what to do about it.
  public var description: String {
    let place = path ?? [service, key].compactMap(\.self).joined(separator: ".")
    return place.isEmpty ? message : "\(place): \(message)"
  }
}

extension ConfigurationError {
  /// The kinds of errors.
  ///
  /// More may be added, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// There is no value for a required key.
    public static let missing = Code("missing")
    /// The value can't be read as the requested type.
    public static let malformed = Code("malformed")
    /// A configuration file exists and can't be read.
    public static let unreadableFile = Code("unreadableFile")
    /// A configuration file isn't what ``LayeredConfiguration/Layer/file(_:)`` reads, or has a key twice.
    public static let malformedFile = Code("malformedFile")
  }
}
