/// Values from several places: the first that has one wins.
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

  /// A configuration of these layers.
  ///
  /// - Parameters:
  ///   - stage: The stage whose values count. Layers with nothing for it have nothing to say.
  ///   - layers: Where to look, in this order.
  public init(stage: ReleaseStage, layers: [Layer]) {
    self.stage = stage
    self.layers = layers
  }

  /// The values in memory and files, each from the first layer that has it.
  ///
  /// What is in the environment is not among them: its names don't tell the service from the key.
  public var serviceStorage: ServiceStorage {
    layers.reduce(into: [:]) { storage, layer in
      storage.merge(layer.storage) { former, latter in
        former.merging(latter) { $0.merging($1) { first, _ in first } }
      }
    }
  }

  /// The stage that it was made for.
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

  /// The names that a value goes by in layers that have names of their own.
  func places(of service: String, key: String) -> [String] { layers.compactMap { $0.place(of: service, key: key) } }

  /// Which layer a value comes from and which layers it hides, without the values.
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
      let place = layer.place(of: service, key: key).map { "  (\($0))" } ?? ""
      return "\n  \(layer): \(found[index]?.redacted ?? "–")\(place)\(index == used ? "  ← used" : "")"
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
