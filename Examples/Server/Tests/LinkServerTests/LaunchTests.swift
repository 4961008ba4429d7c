import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import LaunchInitializers
import LinkCore
import LinkServer
import SpellRegistry
import SpellTesting
import Testing

@Suite("Launch", .service(), .timeLimit(.minutes(1))) struct LaunchTests {
  let folder: Folder
  var journal: URL { folder.url.appending(path: "links.journal") }

  init() throws { folder = try Folder() }

  private func savedVisits() throws -> [String: Int] {
    Dictionary(uniqueKeysWithValues: try LinkJournal(url: journal).links().map { ($0.code, $0.visits) })
  }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: journal) }

  @Test("Every property and constant of the program is served, and so is what the registrations need")
  func wholeProgram() async throws {
    try await Service.run { _ in
      let registry = InitializerRegistry.current
      let properties = WrappedProperty.all(inModules: "LinkServer")
      #expect(properties.contains { $0.description == "AdminPage.settings" })
      #expect(properties.contains { $0.description == "LinkController.links" })
      #expect(registry.validate(properties: properties).map(\.description) == [])
      #expect(registry.validate().map(\.description) == [])
    }
  }

  @Test("The steps run in order and are shut down in reverse")
  func order() async throws {
    try await Service.run(["Journal": journal]) { service in
      let report = try #require(service.launch.report)
      #expect(
        report.entries.map(\.id) == ["settings", "settings watch", "journal", "migration", "cache", "visits"])
      #expect(report.criticalPath.last == "visits" || report.criticalPath.last == "settings watch")
      #expect(try await service.send(.get, "/ready").status == .ok)
      let health = try await service.send(.get, "/health")
      #expect(health.status == .ok)
      #expect(health.text.contains(#""journal":"completed""#))
      let shutDown = await service.launch.shutDown().entries.map(\.id)
      let position = { shutDown.firstIndex(of: $0) ?? -1 }
      #expect(position("visits") < position("cache") && position("cache") < position("journal"))
      #expect(try await service.send(.get, "/ready").status == .serviceUnavailable)
      #expect(try await service.send(.get, "/health").status == .serviceUnavailable)
    }
  }

  @Test("Visits are saved every second, and when the service stops")
  func visits() async throws {
    let clock = try InitializerRegistry.current.resolve(TestClock.self)
    try await Service.run(["Journal": journal]) { service in
      try await service.create("a")
      _ = try await service.send(.get, "/l/a")
      #expect(try savedVisits() == ["a": 0])
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
      await clock.waitForSleepers(1)
      #expect(try savedVisits() == ["a": 1])
      _ = try await service.send(.get, "/l/a")
    }
    #expect(try savedVisits() == ["a": 2])
    try await Service.run(["Journal": journal]) { service in
      let link = try await service.send(.get, "/links/a").link()
      #expect(link.visits == 2)
    }
  }

  @Test("A journal of version 1 is migrated, with a guest as the owner of its links")
  func migration() async throws {
    try write(
      """
      {"version":1}
      {"code":"a","url":"https://swift.org","visits":7}
      {"code":"b","url":"https://swift.org"}

      """)
    try await Service.run(["Journal": journal]) { service in
      let link = try await service.send(.get, "/links/a").link()
      #expect(link.owner == "guest" && link.visits == 7)
      try await service.create("c")
    }
    #expect(try LinkJournal(url: journal).version == 2)
    try await Service.run(["Journal": journal]) { service in
      let page = try await service.send(.get, "/").text
      #expect(page.contains("Links: 3."))
      #expect(service.launch.report?.warnings == ["migration (skipped): the journal has the current version"])
    }
  }

  @Test("A line that a crash has cut off is dropped, and the next one isn't appended to it")
  func cutOff() async throws {
    try await Service.run(["Journal": journal]) { service in try await service.create("a") }
    try write(String(contentsOf: journal, encoding: .utf8) + #"{"added":{"_0":{"co"#)
    try await Service.run(["Journal": journal]) { service in try await service.create("b") }
    #expect(try LinkJournal(url: journal).links().map(\.code) == ["a", "b"])
  }

  @Test(
    "A file that isn't a journal of this program ends the launch, and stays as it is",
    arguments: ["Dear diary,\n", "{\"version\":99}\n", "{\"version\":2}\nDear diary,\n", ""])
  func refused(text: String) async throws {
    try write(text)
    let error = await #expect(throws: LaunchError.self) {
      try await Service.run(["Journal": journal]) { _ in }
    }
    #expect(error?.underlying is JournalError)
    #expect(try String(contentsOf: journal, encoding: .utf8) == text)
  }
}
