internal import Support

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
