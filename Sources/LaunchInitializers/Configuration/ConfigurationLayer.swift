extension LayeredConfiguration {
  /// One place that values come from.
  public struct Layer: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private enum Content {
      case variables([String: String]?, prefix: String)
      case storage(ServiceStorage)
    }

    private let content: Content
    /// What kind of layer it is, and of what; none of its values.
    public let description: String

    private init(_ content: Content, _ description: String) {
      self.content = content
      self.description = description
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// Nothing: no value shows.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Variables of the process's environment, in every stage.
    ///
    /// A key's variable is the prefix, the service and the key in capitals, words apart: `ApiKey` of `Crash` is
    /// `APP_CRASH_API_KEY`.
    ///
    /// - Parameters:
    ///   - prefix: What the variables begin with, without the underscore; empty for none.
    ///   - variables: The variables, for tests; nil for the process's own, which are looked up at each
    ///     question.
    public static func environment(prefix: String, variables: [String: String]? = nil) -> Layer {
      Layer(.variables(variables, prefix: prefix), "environment")
    }

    /// Values that the program carries.
    public static func memory(_ storage: ServiceStorage) -> Layer { Layer(.storage(storage), "memory") }

    /// Values from a JSON file: an object of services, of stages, of keys.
    ///
    /// ```json
    /// { "Crash": { "production": { "ApiKey": "live", "Limit": 7, "Enabled": true } } }
    /// ```
    ///
    /// Read once, here. No file is the same as an empty one; ``Configurable/explanation(for:key:)`` tells. Write a version as text: as a number,
    /// `1.10` is the number 1.1, and is given as that.
    ///
    /// - Parameter path: Where the file is.
    /// - Throws: ``ConfigurationError`` of code `.unreadableFile` or `.malformedFile`.
    public static func file(_ path: String) throws(ConfigurationError) -> Layer {
      let storage = try ConfigurationFile.read(path)
      return Layer(.storage(storage ?? [:]), "file \(path)\(storage == nil ? " (not there)" : "")")
    }

    /// What ``LayeredConfiguration/serviceStorage`` shows of it.
    var storage: ServiceStorage {
      if case .storage(let storage) = content { storage } else { [:] }
    }

    func value(for service: String, key: String, in stage: ReleaseStage) -> String? {
      switch content {
      case .variables(let variables, let prefix):
        value(of: Self.variable(prefix, service, key), among: variables)
      case .storage(let storage): storage[service]?[stage]?[key]
      }
    }

    private func value(of variable: String, among variables: [String: String]?) -> String? {
      if let variables { variables[variable] } else { processVariable(variable) }
    }

    /// The name that a value goes by in this layer, where it is another one.
    func place(of service: String, key: String) -> String? {
      if case .variables(_, let prefix) = content { Self.variable(prefix, service, key) } else { nil }
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
