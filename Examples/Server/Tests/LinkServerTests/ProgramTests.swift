import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@Suite("The program", .timeLimit(.minutes(1))) struct ProgramTests {
  let folder: Folder
  var preferences: String { folder.url.appending(path: "links.preferences").path }

  init() throws { folder = try Folder() }

  /// Requests the start page until it begins with the text.
  ///
  /// A change by another process arrives within 100 milliseconds.
  private func waitForGreeting(_ text: String, _ client: TestClient) async throws {
    while try await !String(buffer: client.get("/").body ?? .init()).hasPrefix(text) {}
  }

  @Test("Another process changes a setting while the server runs, and SIGTERM shuts it down in reverse order")
  func life() async throws {
    let program = try await Program(in: folder)
    try await TestClient.withClient(host: "127.0.0.1", port: program.port) { client in
      try await waitForGreeting("Hello", client)
      #expect(try Program.prefs(preferences, "set", "rateLimit", "100000000") == 0)
      #expect(try Program.prefs(preferences, "set", "greeting", "Welcome", "--string") == 0)
      try await waitForGreeting("Welcome, guest", client)
      #expect(try await client.get("/metrics").status == .ok)
      #expect(try await String(buffer: client.get("/metrics").body ?? .init()).contains("hb_requests{"))
    }
    #expect(await program.terminate() == 0)
    let events = program.log.matches(of: /(launch|shutDown): ([a-z ]+) completed/)
      .map { "\($0.output.1) \($0.output.2)" }
    let position = { events.firstIndex(of: $0) ?? -1 }
    #expect(position("launch cache") > position("launch journal"))
    #expect(position("launch http") > position("launch visits"))
    #expect(position("shutDown http") > position("launch http"))
    #expect(position("shutDown visits") > position("shutDown http"))
    #expect(position("shutDown cache") > position("shutDown visits"))
    #expect(position("shutDown journal") > position("shutDown cache"))
  }

  @Test("A request that is under way at a SIGTERM is answered before the server stops")
  func slowRequest() async throws {
    let folder = try Folder()
    let program = try await Program(in: folder)
    let connection = try Connection(port: program.port)
    let body = #"{"url": "https://swift.org", "code": "slow"}"#
    connection.send(
      "POST /links HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n")
    while !program.log.contains("/links") { await Task.yield() }
    async let code = program.terminate()
    while !program.log.contains("shutDown: http began") { await Task.yield() }
    connection.send(body)
    #expect(connection.receive().hasPrefix("HTTP/1.1 201"))
    #expect(await code == 0)
  }
}

/// A connection over which a test sends a request in parts.
private final class Connection: Sendable {
  private let socket: Int32

  init(port: Int) throws {
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 { throw ProgramError(log: "no connection: error \(errno)") }
  }

  deinit { close(socket) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(socket, bytes, bytes.count)
  }

  /// Returns the next bytes from the server.
  func receive() -> String {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(socket, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
