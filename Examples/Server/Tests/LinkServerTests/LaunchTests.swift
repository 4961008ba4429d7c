import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import LaunchInitializers
import LinkCore
import LinkServer
import Logging
import SpellRegistry
import SpellTesting
import Testing

@Suite("Launch", .service(), .timeLimit(.minutes(1))) struct LaunchTests {
  let folder: Folder
  var journal: URL { folder.url.appending(path: "links.journal") }

  init() throws { folder = try Folder() }

  /// Returns the saved visits by code, read from a copy because the service may have the journal open.
  private func savedVisits() throws -> [String: Int] {
    let copy = folder.url.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: journal, to: copy)
    return Dictionary(uniqueKeysWithValues: try LinkJournal(url: copy).links().map { ($0.code, $0.visits) })
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

  @Test(
    "A file that isn't a journal of this program ends the launch, and stays as it is",
    arguments: ["Dear diary,\n", "Dear diary", "{\"version\":99}\n"])
  func refused(text: String) async throws {
    try write(text)
    let error = await #expect(throws: LaunchError.self) {
      try await Service.run(["Journal": journal]) { _ in }
    }
    #expect(error?.underlying is JournalError)
    #expect(try String(contentsOf: journal, encoding: .utf8) == text)
  }

  @Test("Lines that can't be read are left out and logged, and a copy keeps them")
  func damaged() async throws {
    let log = try InitializerRegistry.current.resolve(InMemoryLogHandler.self)
    try await Service.run(["Journal": journal]) { service in try await service.create("a") }
    let text = try String(contentsOf: journal, encoding: .utf8) + "Dear diary,\n"
    try write(text)
    try await Service.run(["Journal": journal]) { service in
      try await service.create("b")
      #expect(try await service.send(.get, "/links/a").status == .ok)
    }
    let copy = journal.appendingPathExtension("damaged-1")
    #expect(try String(contentsOf: copy, encoding: .utf8) == text)
    #expect(try LinkJournal(url: journal).links().map(\.code) == ["a", "b"])
    let line = try #require(log.entries.first { $0.message == "Lines of the journal can't be read" })
    #expect(line.metadata["lines"] == "[3]")
    #expect(line.metadata["copy"] == "\(copy.resolvingSymlinksInPath().path(percentEncoded: false))")
  }
}
