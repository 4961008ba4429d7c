internal import SpellRegistry

/// A configuration of several layers, of which the first that has a value wins.
///
/// ```swift
/// let configuration = try LayeredConfiguration(stage: .production, layers: [
///   .environment(prefix: "APP"),                // APP_CRASH_API_KEY=…
///   .file("/etc/app/configuration.json"),
///   .memory(["Network": [.production: ["Limit": "4"]]]),
/// ])
/// ```
///
/// Layers are read when they are made; a lookup costs a few dictionary lookups a layer. No value shows in its
/// description, its mirror or a dump. Safe to use from any thread.
public struct LayeredConfiguration: Configurable {
  /// The stage whose values count.
  public let stage: ReleaseStage
  private let layers: [Layer]

  /// Creates a configuration of some layers.
  ///
  /// - Parameters:
  ///   - stage: The stage whose values count.
  ///   - layers: The layers, in the order in which they are asked.
  ///   - fileID: The source file, for messages.
  ///   - line: The source line, for messages.
  /// - Precondition: No two keys of the layers have one environment variable, as `ApiKey` of `Crash` and `Key` of `CrashApi`
  ///   have: one service would get the other's secret.
  public init(stage: ReleaseStage, layers: [Layer], fileID: StaticString = #fileID, line: UInt = #line) {
    self.stage = stage
    self.layers = layers
    if let mistake = sharedVariable { trap(mistake, at: SourcePlace(fileID: fileID, line: line)) }
  }

  /// A sentence about two keys of the layers that have one variable; nil if there are none.
  private var sharedVariable: String? {
    var owners: [String: String] = [:]
    let keys = serviceStorage.sorted { $0.key < $1.key }.flatMap { service, stages in
      Set(stages.values.flatMap(\.keys)).sorted().map { (service, $0) }
    }
    for (service, key) in keys {
      for variable in Set(variableNames(for: service, key: key)) {
        guard let former = owners.updateValue("\(service).\(key)", forKey: variable) else { continue }
        return """
          \(former) and \(service).\(key) are both \(variable) in the environment, so one would get the other's value. \
          Rename the service or the key of one of them.
          """
      }
    }
    return nil
  }

  /// The values in memory and files, each from the first layer that has it.
  ///
  /// Values of the environment aren't among them: a variable's name doesn't tell the service from the key.
  public var serviceStorage: ServiceStorage {
    layers.reduce(into: [:]) { storage, layer in
      storage.merge(layer.storage) { former, latter in
        former.merging(latter) { $0.merging($1) { first, _ in first } }
      }
    }
  }

  /// The stage that the configuration was created for.
  public func currentStage() -> ReleaseStage { stage }

  /// Production, with the environment's variables that begin with `APP_`.
  public static func defaultConfiguration() -> LayeredConfiguration {
    LayeredConfiguration(stage: .production, layers: [.environment(prefix: "APP")])
  }

  /// The value of the first layer that has one.
  public func value(for service: String, key: String) -> String? {
    for layer in layers {
      if let value = layer.value(for: service, key: key, in: stage) { return value }
    }
    return nil
  }

  /// The names of a value's variables, in the layers that have variables.
  func variableNames(for service: String, key: String) -> [String] {
    layers.compactMap { $0.variableName(for: service, key: key) }
  }

  /// The layer that a value comes from, for messages; nil if there is no value.
  func source(of service: String, key: String) -> String? {
    layers.first { $0.value(for: service, key: key, in: stage) != nil }?.source(of: service, key: key)
  }

  /// Returns which layer a value comes from and which layers it hides, without the values.
  ///
  /// ```
  /// Crash.Limit = •••, stage test
  ///   environment: •••  (APP_CRASH_LIMIT)  ← used
  ///   memory: •••
  /// ```
  public func explanation(for service: String, key: String) -> String {
    let found = layers.map { $0.value(for: service, key: key, in: stage) }
    let used = found.firstIndex { $0 != nil }
    let lines = layers.indices.map { index in
      let layer = layers[index]
      let variable = layer.variableName(for: service, key: key).map { "  (\($0))" } ?? ""
      let value = found[index]?.redacted ?? (layer.ignoresVariable(for: service, key: key) ? "empty, ignored" : "–")
      return "\n  \(layer): \(value)\(variable)\(index == used ? "  ← used" : "")"
    }
    let value = used.flatMap { found[$0] }
    return "\(service).\(key) = \(value?.redacted ?? "–"), stage \(stage)" + lines.joined()
  }
}

extension LayeredConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The stage and the layers' names, without their values.
  public var description: String {
    "LayeredConfiguration(stage: \(stage), layers: \(layers.map(\.description).joined(separator: ", ")))"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// The stage and the layers' names, without their values.
  public var customMirror: Mirror {
    Mirror(self, children: ["stage": stage.rawValue, "layers": layers.map(\.description)])
  }
}
