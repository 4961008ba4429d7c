import Foundation
import SpellTesting
import Spellbook
import Testing

extension InjectionKeys {
  fileprivate static let greeter = InjectionKey<any GettingStarted.Greeter> { GettingStarted.EnglishGreeter() }
}

typealias Doorman = GettingStarted.Doorman
extension InjectionKeys {
  static let doorman = InjectionKey(scope: .singleton) { Doorman() }
}

/// The code samples of the article with this name.
///
/// The article's first program is an example.
enum GettingStarted {
  protocol Greeter: Sendable { func greeting(for name: String) -> String }
  struct EnglishGreeter: Greeter { func greeting(for name: String) -> String { "Hello, \(name)!" } }

  final class Reception {
    @Injected(.greeter) var greeter
    @Lazy var guestBook = [String]()
    @Preference var welcomes = 0

    func welcome(_ name: String) -> String {
      guestBook.append(name)
      welcomes += 1
      return greeter.greeting(for: name)
    }
  }

  final class Concierge {
    @Injected var greeter: any Greeter
  }

  struct FakeGreeter: Greeter {
    func greeting(for name: String) -> String { "for \(name)" }
  }

  @Suite(.registry { $0.register(.greeter) { FakeGreeter() } })
  struct ReceptionTests {
    @Test func countsItsWelcomes() {
      let reception = Reception()
      #expect(reception.welcome("Ada") == "for Ada")
      #expect(reception.welcomes == 1)
    }
  }

  final class Doorman: Sendable {
    let greeter = Injected(.greeter)
    func greet() -> String { greeter.value.greeting(for: "Ada") }
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

    @Test("a shared service reads what it needs from a constant", .registry { $0.register(.greeter) { FakeGreeter() } })
    func shared() throws {
      let registry = InitializerRegistry.current
      let doorman = try registry.resolve(.doorman)
      #expect(doorman.greet() == "for Ada")
      #expect(try registry.resolve(.doorman) === doorman)
    }

    @Test("a property for which nothing is registered says so")
    func missing() {
      var printed = ""
      func print(_ error: InjectionError) { printed = error.description }

      let concierge = Concierge()
      do throws(InjectionError) {
        _ = try concierge.$greeter.resolve()
      } catch { print(error) }

      #expect(printed.hasPrefix("No initializer is registered for any Greeter for Concierge.greeter"))
      #expect(printed.contains("Greeter).self) { … }"))
    }

    @Test("a property that asks by type gets what is registered for its type in the shared registry")
    func byType() {
      enum InitializerRegistry { static let shared = Spellbook.InitializerRegistry() }

      let registry = InitializerRegistry.shared
      registry.register((any Greeter).self) { EnglishGreeter() }

      #expect(registry.run { Concierge().greeter.greeting(for: "Ada") } == "Hello, Ada!")
    }

    @Test("+= loses no step of another writer if it is written as an update")
    func updated() throws {
      let reception = Reception()
      try reception.$welcomes.update { $0 += 1 }
      #expect(reception.welcomes == 1)
    }
  }
}
