import Configuration
public import LaunchInitializers

/// The configuration of the process, from arguments, environment variables, a file, or defaults, in this order.
///
/// The value `Port` of the service `Server` is `--links-server-port` or `LINKS_SERVER_PORT`. In the file, the value is
/// written as `{"links": {"server": {"port": 80}}}`.
public struct LinkConfiguration: Configurable {
  private let reader: ConfigReader

  /// Creates the configuration of this process.
  ///
  /// - Parameter path: The path of a JSON file, which may be missing.
  /// - Throws: An error if the file isn't JSON.
  public init(file path: String) async throws {
    let place = InMemoryProvider(values: ["filePath": .init(stringLiteral: path), "allowMissing": true])
    let file = try await FileProvider<JSONSnapshot>(config: ConfigReader(provider: place))
    self.init([CommandLineArgumentsProvider(), EnvironmentVariablesProvider(), file, Self.defaults])
  }

  private init(_ providers: [any ConfigProvider]) { reader = ConfigReader(providers: providers).scoped(to: "links") }

  private static let defaults = InMemoryProvider(values: [
    "links.server.host": "127.0.0.1", "links.server.port": "8080", "links.journal.path": "links.journal",
    "links.settings.path": "links.preferences", "links.log.level": "info",
  ])

  /// Returns the configuration from environment variables and defaults alone.
  public static func defaultConfiguration() -> LinkConfiguration {
    LinkConfiguration([EnvironmentVariablesProvider(), defaults])
  }

  /// An empty storage, because `value(for:key:)` looks up each value instead.
  public var serviceStorage: ServiceStorage { [:] }

  /// Returns the stage from `--links-stage`, `LINKS_STAGE` or the file, or else `development`.
  public func currentStage() -> ReleaseStage {
    ReleaseStage(rawValue: reader.string(forKey: "stage", default: "development"))
  }

  /// Returns the value for a key as text, even if the file has a number.
  public func value(for service: String, key: String) -> String? {
    let name = ConfigKey([service.lowercased(), key.lowercased()])
    return reader.string(forKey: name, isSecret: true) ?? reader.int(forKey: name, isSecret: true).map(String.init)
  }
}
