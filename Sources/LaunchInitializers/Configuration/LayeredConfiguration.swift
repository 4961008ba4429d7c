internal import SpellRegistry

/// A configuration of several layers; a value comes from the first layer that has it.
///
/// ```swift
/// let configuration = try LayeredConfiguration(stage: .production, layers: [
///   .environment(prefix: "APP"),                // APP_CRASH_API_KEY=…
///   .file("/etc/app/configuration.json"),
///   .memory(["Network": [.production: ["Limit": "4"]]]),
/// ])
/// ```
///
/// Files are read when their layers are created. A lookup costs a few dictionary lookups for each layer. The description,
/// the mirror and a dump show no values. Safe to use from any thread.
public struct LayeredConfiguration: Configurable {
  /// The stage whose values apply.
  public let stage: ReleaseStage
  private let layers: [Layer]

  /// Creates a configuration from layers.
  ///
  /// - Parameters:
  ///   - stage: The stage whose values apply.
  ///   - layers: The layers, in the order of precedence.
  ///   - fileID: The source file, for messages.
  ///   - line: The source line, for messages.
  /// - Precondition: No two keys of the layers have the same environment variable, like `ApiKey` of `Crash` and `Key` of
  ///   `CrashApi`: one service would get the other's secret.
  public init(stage: ReleaseStage, layers: [Layer], fileID: StaticString = #fileID, line: UInt = #line) {
    self.stage = stage
    self.layers = layers
    if let mistake = sharedVariable { trap(mistake, at: SourcePlace(fileID: fileID, line: line)) }
  }

  /// The message about two keys that have the same variable; nil if there are none.
  private var sharedVariable: String? {
    var owners: [String: String] = [:]
    let keys = serviceStorage.sorted { $0.key < $1.key }.flatMap { service, stages in
      Set(stages.values.flatMap(\.keys)).sorted().map { (service, $0) }
    }
    for (service, key) in keys {
      for variable in Set(variableNames(for: service, key: key)) {
        guard let former = owners.updateValue("\(service).\(key)", forKey: variable) else { continue }
        return """
          \(former) and \(service).\(key) have the same environment variable, \(variable), so one would get the other's \
          value. Rename the service or the key of one of them.
          """
      }
    }
    return nil
  }

  /// The values in memory and in files, each from the first layer that has it.
  ///
  /// Values of the environment aren't included, because a variable's name doesn't show where the service ends.
  public var serviceStorage: ServiceStorage {
    layers.reduce(into: [:]) { storage, layer in
      storage.merge(layer.storage) { former, latter in
        former.merging(latter) { $0.merging($1) { first, _ in first } }
      }
    }
  }

  /// The stage that the configuration was created for.
  public func currentStage() -> ReleaseStage { stage }

  /// Returns a configuration for production with the environment variables that begin with `APP_`.
  public static func defaultConfiguration() -> LayeredConfiguration {
    LayeredConfiguration(stage: .production, layers: [.environment(prefix: "APP")])
  }

  /// Returns the value from the first layer that has one.
  public func value(for service: String, key: String) -> String? {
    for layer in layers {
      if let value = layer.value(for: service, key: key, in: stage) { return value }
    }
    return nil
  }

  /// Returns the names of a value's variables in the layers of variables.
  func variableNames(for service: String, key: String) -> [String] {
    layers.compactMap { $0.variableName(for: service, key: key) }
  }

  /// Returns the layer and the variable that a value comes from, for messages; nil if there is no value.
  func source(of service: String, key: String) -> String? {
    layers.first { $0.value(for: service, key: key, in: stage) != nil }?.source(of: service, key: key)
  }

  /// Returns text about the layer that a value comes from and the layers that it hides, without the values.
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
  /// The stage and the layers, without values.
  public var description: String {
    "LayeredConfiguration(stage: \(stage), layers: \(layers.map(\.description).joined(separator: ", ")))"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror of the stage and the layers, without values.
  public var customMirror: Mirror {
    Mirror(self, children: ["stage": stage.rawValue, "layers": layers.map(\.description)])
  }
}
