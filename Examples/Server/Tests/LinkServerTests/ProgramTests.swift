import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@Suite("The program", .timeLimit(.minutes(1))) struct ProgramTests {
  let folder: Folder
  var preferences: String { folder.url.appending(path: "links.preferences").path }

  init() throws { folder = try Folder() }

  /// Asks for the start page until it has the text: another process's change is seen within 100 milliseconds.
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
}
