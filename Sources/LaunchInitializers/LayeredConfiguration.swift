internal import SpellRegistry
internal import Support

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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

// MARK: Layers

extension LayeredConfiguration {
  /// A source of values in a ``LayeredConfiguration``.
  public struct Layer: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private enum Content {
      case variables([String: String]?, prefix: String)
      case storage(ServiceStorage)
    }

    private let content: Content
    /// The kind of the layer and the path of a file, without values.
    public let description: String

    private init(_ content: Content, _ description: String) {
      self.content = content
      self.description = description
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// An empty mirror, because values may be secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Creates a layer of environment variables, which apply in every stage.
    ///
    /// A variable's name is the prefix, the service and the key in capitals, with underscores between words: for `ApiKey` of
    /// `Crash`, `APP_CRASH_API_KEY`. An empty variable counts as unset, so the next layer applies.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the variables' names, without the underscore; empty for none.
    ///   - variables: The variables, for tests; nil for those of the process, which are read at each lookup.
    public static func environment(prefix: String, variables: [String: String]? = nil) -> Layer {
      Layer(.variables(variables, prefix: prefix), "environment")
    }

    /// Creates a layer of values in memory.
    public static func memory(_ storage: ServiceStorage) -> Layer { Layer(.storage(storage), "memory") }

    /// Reads a layer from a JSON file: an object of services, of stages, of keys.
    ///
    /// ```json
    /// { "Crash": { "production": { "ApiKey": "live", "Limit": 7, "Enabled": true } } }
    /// ```
    ///
    /// The file is read once, by this call. A missing file is treated like an empty one;
    /// ``Configurable/explanation(for:key:)`` shows that. Write a version as a string: `1.10` as a number becomes `1.1`.
    ///
    /// - Parameter path: The file's path.
    /// - Throws: ``ConfigurationError`` of code `.unreadableFile`, or `.malformedFile`, also if an object has a key twice.
    public static func file(_ path: String) throws(ConfigurationError) -> Layer {
      let storage = try ConfigurationFile.read(path)
      return Layer(.storage(storage ?? [:]), "file \(path)\(storage == nil ? " (missing)" : "")")
    }

    /// The values that are part of ``LayeredConfiguration/serviceStorage``.
    var storage: ServiceStorage {
      if case .storage(let storage) = content { storage } else { [:] }
    }

    func value(for service: String, key: String, in stage: ReleaseStage) -> String? {
      switch content {
      case .variables: rawVariable(for: service, key: key).flatMap { $0.isEmpty ? nil : $0 }
      case .storage(let storage): storage[service]?[stage]?[key]
      }
    }

    /// Returns whether a variable is set but empty, and so ignored.
    func ignoresVariable(for service: String, key: String) -> Bool { rawVariable(for: service, key: key) == "" }

    private func rawVariable(for service: String, key: String) -> String? {
      guard case .variables(let variables, _) = content, let name = variableName(for: service, key: key) else {
        return nil
      }
      return if let variables { variables[name] } else { processVariable(name) }
    }

    /// Returns the name of a value's variable; nil if this isn't a layer of variables.
    func variableName(for service: String, key: String) -> String? {
      if case .variables(_, let prefix) = content { Self.variable(prefix, service, key) } else { nil }
    }

    /// Returns the layer and the variable of a value, for messages.
    func source(of service: String, key: String) -> String {
      description + (variableName(for: service, key: key).map { " (\($0))" } ?? "")
    }

    /// Returns `APP_CRASH_API_KEY` for `APP`, `Crash` and `ApiKey`.
    static func variable(_ parts: String...) -> String {
      parts.filter { !$0.isEmpty }.map(capitals).joined(separator: "_")
    }

    private static func capitals(_ name: String) -> String {
      let characters = Array(name)
      var result = ""
      for (index, character) in characters.enumerated() {
        guard character.isLetter || character.isNumber else {
          result += "_"
          continue
        }
        // A word begins at a capital after a lowercase letter, and at the last capital before one, as in baseURLPath.
        if character.isUppercase, index > 0, characters[index - 1].isLetter || characters[index - 1].isNumber {
          let followsLowercase = !characters[index - 1].isUppercase
          let precedesLowercase = index + 1 < characters.count && characters[index + 1].isLowercase
          if followsLowercase || precedesLowercase { result += "_" }
        }
        result += character.uppercased()
      }
      return result
    }
  }
}

/// Returns a variable of the process's environment; nil if it isn't set.
private func processVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

// MARK: Files

/// The reader of JSON files for ``LayeredConfiguration``, and the only part of this module that imports Foundation on Linux.
private enum ConfigurationFile {
  /// Returns the values of a file; nil if there is no file.
  static func read(_ path: String) throws(ConfigurationError) -> ServiceStorage? {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return nil
    } catch {
      throw ConfigurationError(
        .unreadableFile, path: path,
        "the file exists, but can't be read. Check its permissions, and that it isn't a folder.")
    }
    do {
      let services = try JSONDecoder().decode([String: [String: [String: Scalar]]].self, from: data)
      if let path = DuplicateKey.first(in: data) { throw DuplicateKey(path: path) }
      return services.mapValues { stages in
        Dictionary(uniqueKeysWithValues: stages.map { (ReleaseStage(rawValue: $0), $1.mapValues(\.text)) })
      }
    } catch let duplicate as DuplicateKey {
      let key = duplicate.path.joined(separator: ".").escaped
      throw ConfigurationError(.malformedFile, path: path, "\(key) occurs twice. Remove one of the two.")
    } catch {
      throw ConfigurationError(.malformedFile, path: path, problem(of: error))
    }
  }

  /// The message about an error, from its coding path alone because its text may quote the file.
  private static func problem(of error: any Error) -> String {
    let shape = """
      Write an object of services, of stages, of keys with strings, numbers or Bools: \
      {"Crash": {"production": {"ApiKey": "…"}}}.
      """
    let path: [any CodingKey] =
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
        context.codingPath
      default: []
      }
    if path.isEmpty { return "the file isn't the JSON of a configuration. \(shape)" }
    return "the value at \(path.map(\.stringValue).joined(separator: ".").escaped) has the wrong type. \(shape)"
  }

  /// A string, or a number or Bool that is converted to text.
  private struct Scalar: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let bool = Self.decode(Bool.self, from: container) {
        text = String(bool)
      } else if let integer = Self.decode(Int.self, from: container) {
        text = String(integer)
      } else if let number = Self.decode(Double.self, from: container) {
        // A larger Double may differ from the number in the file.
        guard number.magnitude < 0x1p53 else {
          throw DecodingError.dataCorruptedError(in: container, debugDescription: "Write it as a string.")
        }
        text = String(number)
      } else {
        text = try container.decode(String.self)
      }
    }

    /// Returns the value as a type; nil if it is of another type.
    ///
    /// If all types fail, the decoding of the last one throws.
    private static func decode<Value: Decodable>(
      _ type: Value.Type, from container: any SingleValueDecodingContainer
    ) -> Value? {
      do { return try container.decode(type) } catch { return nil }
    }
  }
}

/// An error for a key that an object has twice; decoders don't report it, and take one of the two values.
private struct DuplicateKey: Error {
  let path: [String]

  /// Returns the path of the first key that occurs twice in valid JSON; nil if there is none.
  static func first(in json: Data) -> [String]? {
    // The keys of each open object or array, and the latest one.
    var open: [(keys: Set<String>, latest: String?)] = []
    var index = json.startIndex
    while index < json.endIndex {
      let byte = json[index]
      index += 1
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(([], nil))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open.removeLast()
      case UInt8(ascii: "\""):
        let start = index - 1
        while json[index] != UInt8(ascii: "\"") { index += json[index] == UInt8(ascii: "\\") ? 2 : 1 }
        index += 1
        let next = json[index...].first { !" \t\r\n".utf8.contains($0) }
        guard next == UInt8(ascii: ":"), !open.isEmpty, let key = text(of: json[start..<index]) else { continue }
        let isNew = open[open.count - 1].keys.insert(key).inserted
        open[open.count - 1].latest = key
        if !isNew { return open.compactMap(\.latest) }
      default: break
      }
    }
    return nil
  }

  /// The text of a valid JSON string.
  private static func text(of string: Data) -> String? {
    do { return try JSONDecoder().decode(String.self, from: string) } catch { return nil }
  }
}
