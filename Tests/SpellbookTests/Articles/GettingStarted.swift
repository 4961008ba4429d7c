import Foundation
import SpellTesting
import Spellbook
import Testing

/// The code samples of the article with this name.
///
/// The article's first program is an example.
enum GettingStarted {
  protocol Greeter: Sendable { func greeting(for name: String) -> String }

  final class Reception {
    @Injected var greeter: any Greeter
    @Lazy var visitors: [String]
    @Preference var visits = 0

    func welcome(_ name: String) -> String {
      visitors.append(name)
      visits += 1
      return greeter.greeting(for: name)
    }
  }

  @Suite(.registry) struct ReceptionTests {
    struct FakeGreeter: Greeter {
      func greeting(for name: String) -> String { "for \(name)" }
    }

    @Test func countsItsVisits() {
      let registry = InitializerRegistry.current
      registry.register((any Greeter).self) { FakeGreeter() }
      let reception = Reception()
      #expect(reception.welcome("Ada") == "for Ada")
      #expect(reception.visits == 1)
    }
  }

  struct Theme: Codable, Sendable { var name: String }

  final class Desk {
    @Partial var theme: Theme
    @Final var number: Int
  }

  @Suite("Getting started", .registry) struct Article {
    @Test("a resource is loaded from the registered loader's folder, and a final property keeps its value")
    func loadedAndAssigned() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "getting-started-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(at: folder) }
      try Data(#"{"name": "dark"}"#.utf8).write(to: folder.appending(path: "Theme.json"))
      var printed = ""
      func print(_ theme: String, _ number: Int) { printed = "\(theme) \(number)" }

      let registry = InitializerRegistry.current
      registry.register((any PartialLoader).self) { DecodablePartialLoader(folder: folder) }
      let desk = Desk()
      desk.number = 3
      print(desk.theme.name, desk.number)

      #expect(printed == "dark 3")
    }

    @Test("a property for which nothing is registered says so")
    func missing() {
      var printed = ""
      func print(_ error: InjectionError) { printed = error.description }

      let reception = Reception()
      do throws(InjectionError) {
        _ = try reception.$greeter.resolve()
      } catch { print(error) }

      #expect(printed.hasPrefix("No initializer is registered for any Greeter for Reception.greeter"))
      #expect(printed.contains("Greeter).self) { … }"))
    }
  }
}
