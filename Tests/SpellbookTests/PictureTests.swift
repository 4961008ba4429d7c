import Foundation
import SpellDiagnostics
import Spellbook
import Testing

// The app of the picture in "Checking the whole program".
private protocol Analytics: Sendable {}
private struct EventLog: Analytics {}
private struct Keychain: Sendable {}
private final class Session: Sendable { init(_: Keychain) {} }
private final class Network: Sendable { init(_: Session, _: any Analytics) {} }
private final class Images: Sendable { init(_: Network) {} }
private final class Feed: Sendable { init(_: Network, _: Images) {} }
private final class Search: Sendable { init(_: Network) {} }
private final class App: Sendable { init(_: Feed, _: Search) {} }

@Suite("The picture of a graph") struct PictureTests {
  private static let picture = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/SpellDiagnostics/SpellDiagnostics.docc/Resources/dependencies.svg").standardized

  private func registry() -> InitializerRegistry {
    let registry = InitializerRegistry()
    registry.register(App.self, .autowire(App.init))
    registry.register(Feed.self, .autowire(Feed.init))
    registry.register(Search.self, .autowire(Search.init))
    registry.register(Images.self, scope: .singleton, .autowire(Images.init))
    registry.register(Network.self, scope: .singleton, .autowire(Network.init))
    registry.register(Session.self, scope: .singleton, .autowire(Session.init))
    registry.register((any Analytics).self) { EventLog() }
    return registry
  }

  /// Draws the picture again if `WRITE_PICTURES` is in the environment: `WRITE_PICTURES=1 swift test --filter
  /// PictureTests`.
  @Test("is what the graph of its app draws, before anything is made")
  func picture() throws {
    let drawn = registry().graph().svg()
    if ProcessInfo.processInfo.environment["WRITE_PICTURES"] != nil {
      try Data(drawn.utf8).write(to: Self.picture)
    }
    #expect(try String(contentsOf: Self.picture, encoding: .utf8) == drawn)
  }

  @Test("has in red what validate() names")
  func missing() throws {
    let issues = registry().validate()
    #expect(issues.count == 1)
    #expect(try #require(issues.first).description.contains("Keychain"))
    let nodes = registry().graph().nodes
    #expect(nodes.filter { $0.scope == nil }.map(\.type) == ["Keychain"])
  }
}
