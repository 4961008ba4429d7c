/// What initializers are configured with: text values by service, stage and key.
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
/// Values may be secrets. Nothing in this module prints one: errors and explanations tell the service and the key.
/// Your own type's description is yours; ``LayeredConfiguration`` has one that keeps quiet.
///
/// Steps read it from any thread, at once.
public protocol Configurable: Sendable {
  /// Every value that the program carries with it.
  var serviceStorage: ServiceStorage { get }

  /// The stage whose values count.
  func currentStage() -> ReleaseStage

  /// The configuration that a program uses unless it says otherwise.
  static func defaultConfiguration() -> Self

  /// The value of a service's key in the current stage; nil where there is none.
  ///
  /// By default it comes from ``serviceStorage``, at the cost of three dictionary lookups.
  func value(for service: String, key: String) -> String?

  /// Where a value comes from, without the value, for a person to read.
  ///
  /// For finding out why a step got the value that it got. Costs a lookup and some text.
  func explanation(for service: String, key: String) -> String
}

extension Configurable {
  /// The value in ``serviceStorage`` for the current stage.
  public func value(for service: String, key: String) -> String? {
    serviceStorage[service]?[currentStage()]?[key]
  }

  /// Says whether ``serviceStorage`` has a value, and which stages do.
  public func explanation(for service: String, key: String) -> String {
    let stage = currentStage()
    guard let value = value(for: service, key: key) else {
      return "\(service).\(key) has no value in stage \(stage). \(hint(for: service, key: key))"
    }
    return "\(service).\(key) = \(value.redacted), from \(Self.self), stage \(stage)"
  }

  /// What a person who finds no value should know: what there is instead, and where one could be.
  func hint(for service: String, key: String) -> String {
    let places = (self as? LayeredConfiguration)?.places(of: service, key: key) ?? []
    guard !places.isEmpty else { return alternatives(for: service, key: key) }
    let place = "It can be set in the environment as \(places.joined(separator: " or "))."
    return serviceStorage.isEmpty ? place : "\(alternatives(for: service, key: key)) \(place)"
  }

  private func alternatives(for service: String, key: String) -> String {
    guard let stages = serviceStorage[service] else {
      let near = NearestName.to(service, among: Array(serviceStorage.keys))
      return "There is no service \(service)\(near.map { "; did you mean \($0)" } ?? "")."
    }
    let having = stages.filter { $0.value[key] != nil }.keys.map(\.rawValue).sorted()
    if !having.isEmpty { return "It has one in: \(having.joined(separator: ", "))." }
    guard let keys = stages[currentStage()]?.keys else {
      return "\(service) has values in: \(stages.keys.map(\.rawValue).sorted().joined(separator: ", "))."
    }
    let near = NearestName.to(key, among: Array(keys))
    return near.map { "Did you mean \($0)?" } ?? "\(service) has no such key in any stage."
  }
}

extension String {
  /// What is shown of a value: whether there is something, and nothing else.
  var redacted: String { isEmpty ? "(empty)" : "•••" }
}
