extension LayeredConfiguration {
  /// One source of values.
  public struct Layer: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private enum Content {
      case variables([String: String]?, prefix: String)
      case storage(ServiceStorage)
    }

    private let content: Content
    /// The kind of layer, and the path of a file; none of its values.
    public let description: String

    private init(_ content: Content, _ description: String) {
      self.content = content
      self.description = description
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// An empty mirror: no value shows.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Variables of the process's environment, in every stage.
    ///
    /// A key's variable is the prefix, the service and the key in capitals, words apart: `ApiKey` of `Crash` is
    /// `APP_CRASH_API_KEY`. An empty variable counts as not set, so the next layer is asked.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the variables' names, without the underscore; empty for none.
    ///   - variables: The variables, for tests; nil for the process's own, which are read at each lookup.
    public static func environment(prefix: String, variables: [String: String]? = nil) -> Layer {
      Layer(.variables(variables, prefix: prefix), "environment")
    }

    /// Values in the program's memory.
    public static func memory(_ storage: ServiceStorage) -> Layer { Layer(.storage(storage), "memory") }

    /// Values from a JSON file: an object of services, of stages, of keys.
    ///
    /// ```json
    /// { "Crash": { "production": { "ApiKey": "live", "Limit": 7, "Enabled": true } } }
    /// ```
    ///
    /// Read once, here. No file is the same as an empty one; ``Configurable/explanation(for:key:)`` tells. Write a
    /// version as text: as a number, `1.10` is the number 1.1, and is given as that.
    ///
    /// - Parameter path: The file's path.
    /// - Throws: ``ConfigurationError`` of code `.unreadableFile` or `.malformedFile`; the latter too if an object has a key
    ///   twice.
    public static func file(_ path: String) throws(ConfigurationError) -> Layer {
      let storage = try ConfigurationFile.read(path)
      return Layer(.storage(storage ?? [:]), "file \(path)\(storage == nil ? " (not there)" : "")")
    }

    /// The part of the layer that ``LayeredConfiguration/serviceStorage`` shows.
    var storage: ServiceStorage {
      if case .storage(let storage) = content { storage } else { [:] }
    }

    func value(for service: String, key: String, in stage: ReleaseStage) -> String? {
      switch content {
      case .variables: rawVariable(for: service, key: key).flatMap { $0.isEmpty ? nil : $0 }
      case .storage(let storage): storage[service]?[stage]?[key]
      }
    }

    /// Whether a variable is set to nothing, and so ignored.
    func ignoresVariable(for service: String, key: String) -> Bool { rawVariable(for: service, key: key) == "" }

    private func rawVariable(for service: String, key: String) -> String? {
      guard case .variables(let variables, _) = content, let name = variableName(for: service, key: key) else {
        return nil
      }
      return if let variables { variables[name] } else { processVariable(name) }
    }

    /// The name of a value's variable; nil if this isn't a layer of variables.
    func variableName(for service: String, key: String) -> String? {
      if case .variables(_, let prefix) = content { Self.variable(prefix, service, key) } else { nil }
    }

    /// The layer and the name that a value has in it, for messages.
    func source(of service: String, key: String) -> String {
      description + (variableName(for: service, key: key).map { " (\($0))" } ?? "")
    }

    /// `APP_CRASH_API_KEY` of `APP`, `Crash` and `ApiKey`.
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
        // A word begins at a capital after a small letter, and at the last capital before one: baseURLPath.
        if character.isUppercase, index > 0, characters[index - 1].isLetter || characters[index - 1].isNumber {
          let followsSmall = !characters[index - 1].isUppercase
          let precedesSmall = index + 1 < characters.count && characters[index + 1].isLowercase
          if followsSmall || precedesSmall { result += "_" }
        }
        result += character.uppercased()
      }
      return result
    }
  }
}
