import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import LaunchInitializers
import LinkCore
import LinkServer
import Logging
import NIOCore
import SpellRegistry
import SpellTesting
import Testing

extension Trait where Self == RegistryTrait {
  /// Returns a trait with the program's registrations, a log in memory, and a clock that the test advances.
  static func service() -> RegistryTrait {
    .registry(clock: TestClock()) { registry in
      let log = InMemoryLogHandler()
      let logger = Logger(label: "test") { _ in log }
      registry.register(.instance(log))
      LinkServer.registerServices(in: registry, logger: logger, metrics: TextMetrics())
    }
  }
}

/// A configuration with only the values that a test sets.
struct TestConfiguration: Configurable {
  var serviceStorage: ServiceStorage = [:]
  func currentStage() -> ReleaseStage { .test }
  static func defaultConfiguration() -> TestConfiguration { TestConfiguration() }
}

/// The launched service of a test, whose routes are called without a network.
struct Service {
  static let admin = "Basic " + Data("admin:secret".utf8).base64EncodedString()

  let launch: LaunchSequence
  let client: any TestClientProtocol

  /// Launches the service in the test's registry, runs `body`, and shuts the service down.
  ///
  /// - Parameter paths: The file for each service, by name. A service without a file keeps everything in memory.
  static func run(_ paths: [String: URL] = [:], _ body: @Sendable (Service) async throws -> Void) async throws {
    var storage: ServiceStorage = [
      "Server": [.test: ["Host": "127.0.0.1", "Port": "0"]], "Admin": [.test: ["Token": "secret"]],
    ]
    for (service, url) in paths { storage[service] = [.test: ["Path": url.path]] }
    let configuration = TestConfiguration(serviceStorage: storage)
    let launch = try LinkServer.launchSequence(configuration, serves: false)
    try await launch.launch()
    do {
      try await LinkServer.application(configuration).test(.router) { client in
        try await body(Service(launch: launch, client: client))
      }
    } catch {
      await launch.shutDown()
      throw error
    }
    await launch.shutDown()
  }

  /// Sends a request, with the user in the header `X-User`, and returns the response.
  func send(
    _ method: HTTPRequest.Method, _ path: String, user: String? = nil, body: String? = nil,
    headers: HTTPFields = [:]
  ) async throws -> TestResponse {
    var headers = headers
    if let user, let name = HTTPField.Name("X-User") { headers[name] = user }
    return try await client.execute(
      uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
  }

  /// Sends a request that creates a link, and returns the response.
  @discardableResult
  func create(_ code: String, _ url: String = "https://swift.org", user: String? = nil) async throws -> TestResponse {
    try await send(.post, "/links", user: user, body: #"{"url": "\#(url)", "code": "\#(code)"}"#)
  }

  /// Sends the form of the admin page, with `site` as the header `Sec-Fetch-Site`.
  func save(_ form: String, site: String = "same-origin") async throws -> TestResponse {
    var headers: HTTPFields = [.authorization: Self.admin, .contentType: "application/x-www-form-urlencoded"]
    if let name = HTTPField.Name("Sec-Fetch-Site") { headers[name] = site }
    return try await send(.post, "/admin", body: form, headers: headers)
  }

  func adminPage() async throws -> TestResponse {
    try await send(.get, "/admin", headers: [.authorization: Self.admin])
  }
}

extension TestResponse {
  var text: String { String(buffer: body) }

  /// Returns the link that the body contains as JSON.
  func link() throws -> Link { try JSONDecoder().decode(Link.self, from: Data(text.utf8)) }

  /// Returns the value of a header, or nil if the response doesn't have the header.
  func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}

/// A temporary folder, which is removed when the test's suite is released.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "LinkServerTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
