import Configuration
public import LaunchInitializers

/// The configuration of a process: arguments, then environment variables, then a file, then defaults.
///
/// The value of `Server.Port` is `--links-server-port` or `LINKS_SERVER_PORT`, and `{"links": {"server": {"port": 80}}}` in the
/// file.
public struct LinkConfiguration: Configurable {
  private let reader: ConfigReader

  /// Creates the configuration of this process.
  ///
  /// - Parameter path: The path of a JSON file, which may be missing.
  /// - Throws: An error about a file that isn't JSON.
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

  /// No values, since `value(for:key:)` looks them up.
  public var serviceStorage: ServiceStorage { [:] }

  /// The stage: `--links-stage` or `LINKS_STAGE`.
  public func currentStage() -> ReleaseStage {
    ReleaseStage(rawValue: reader.string(forKey: "stage", default: "development"))
  }

  /// Returns the value of a key as text; a file may have a number.
  public func value(for service: String, key: String) -> String? {
    let name = ConfigKey([service.lowercased(), key.lowercased()])
    return reader.string(forKey: name, isSecret: true) ?? reader.int(forKey: name, isSecret: true).map(String.init)
  }
}
