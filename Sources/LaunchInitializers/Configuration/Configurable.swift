internal import Support

/// A configuration for initializers: text values by service, stage and key.
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
/// Values may be secrets. Nothing in this module prints one: errors and explanations name the service and the key. Your
/// own type's description is yours; the one of ``LayeredConfiguration`` shows no value.
///
/// Steps read it from any thread, concurrently.
public protocol Configurable: Sendable {
  /// Every value that the configuration holds.
  var serviceStorage: ServiceStorage { get }

  /// Returns the stage whose values count.
  func currentStage() -> ReleaseStage

  /// Returns the configuration that a program uses by default.
  static func defaultConfiguration() -> Self

  /// Returns the value of a service's key in the current stage; nil if there is none.
  ///
  /// By default it comes from ``serviceStorage``, in three dictionary lookups.
  func value(for service: String, key: String) -> String?

  /// Returns where a value comes from, without the value, for a person to read.
  func explanation(for service: String, key: String) -> String
}

extension Configurable {
  /// Returns the value in ``serviceStorage`` for the current stage.
  public func value(for service: String, key: String) -> String? {
    serviceStorage[service]?[currentStage()]?[key]
  }

  /// Returns whether ``serviceStorage`` has a value, and which stages do.
  public func explanation(for service: String, key: String) -> String {
    let stage = currentStage()
    guard let value = value(for: service, key: key) else {
      return "\(service).\(key) has no value in stage \(stage). \(hint(for: service, key: key))"
    }
    return "\(service).\(key) = \(value.redacted), from \(Self.self), stage \(stage)"
  }

  /// What helps a person who finds no value: what there is instead, and where a value can be set.
  func hint(for service: String, key: String) -> String {
    let names = (self as? LayeredConfiguration)?.variableNames(for: service, key: key) ?? []
    guard !names.isEmpty else { return alternatives(for: service, key: key) }
    let variable = "It can be set in the environment as \(names.joined(separator: " or "))."
    return serviceStorage.isEmpty ? variable : "\(alternatives(for: service, key: key)) \(variable)"
  }

  private func alternatives(for service: String, key: String) -> String {
    guard let stages = serviceStorage[service] else {
      let near = service.closestMatch(among: serviceStorage.keys)
      return "There is no service \(service)\(near.map { "; did you mean \($0)" } ?? "")."
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

extension String {
  /// The text that stands for a value: it shows only whether there is something.
  var redacted: String { isEmpty ? "(empty)" : "•••" }
}
