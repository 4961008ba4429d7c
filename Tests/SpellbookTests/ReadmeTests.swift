import Foundation
import SpellTesting
import Spellbook
import Testing

// The README's programs, word for word but for `@main`.
private protocol Greeter: Sendable { var text: String { get } }
private struct EnglishGreeter: Greeter { let text = "Hello!" }
private struct QuietGreeter: Greeter { let text = "…" }

private final class Lobby {
  @Injected var greeter: any Greeter
}

private struct Theme: Decodable, Sendable { let name: String }

private final class Player {
  @Injected var greeter: any Greeter  // provided by the registry
  @Lazy var cache = ["created on first read, once, from any thread"]
  @Final var id: Int  // assigned once; a second time stops the program
  @Partial var theme: Theme  // loaded from Theme.json on first read
  @Preference var volume = 5  // kept in a file, for the next run too
}

@Suite("The README's test") struct ReadmeSampleTests {
  @Test(.registry { $0.register((any Greeter).self) { QuietGreeter() } })
  func greets() { #expect(Lobby().greeter.text == "…") }
}

@Suite("README", .registry) struct ReadmeTests {
  private static let file = URL(filePath: #filePath)
  private static let readme = file.deletingLastPathComponent().appending(path: "../../README.md")

  /// The fenced blocks of the README, without their fences, and the languages of the fences.
  private static func blocks() throws -> [(language: String, text: String)] {
    try String(contentsOf: readme, encoding: .utf8).split(separator: "```", omittingEmptySubsequences: false)
      .enumerated().filter { !$0.offset.isMultiple(of: 2) }
      .map { block in
        let language = block.element.prefix { $0 != "\n" }
        return (String(language), block.element.dropFirst(language.count).trimmingCharacters(in: .newlines))
      }
  }

  @Test("shows programs that compile")
  func programs() throws {
    func print(_ text: String) { #expect(text == "Hello!") }

    InitializerRegistry.current.register((any Greeter).self) { EnglishGreeter() }
    print(Lobby().greeter.text)

    let source = try String(contentsOf: Self.file, encoding: .utf8)
    let differing = ["import Spellbook", "@main", "static func main()", "InitializerRegistry.shared"]
    for block in try Self.blocks().filter({ $0.language == "swift" && !$0.text.hasPrefix(".package") }) {
      for line in block.text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) })
      where !differing.contains(where: line.hasPrefix) {
        #expect(source.contains(line), "\(line)")
      }
    }
  }

  @Test("says what the wrappers do")
  func wrappers() throws {
    struct Loader: PartialLoader {
      func load<Value>(_: Value.Type, named name: String) throws -> Value {
        #expect(name == "Theme")
        return try #require(Theme(name: "dark") as? Value)
      }
    }
    InitializerRegistry.current.register((any PartialLoader).self) { Loader() }
    let player = Player()
    #expect(!player.$cache.hasValue && player.cache.count == 1)
    player.id = 7
    #expect(throws: FinalError.self) { try player.$id.assign(8) }
    #expect(player.theme.name == "dark")
    player.volume = 6
    #expect(Player().volume == 6)
  }

  @Test("shows the error of a missing registration")
  func missing() throws {
    let error = try #require(throws: InjectionError.self) { try Lobby().$greeter.resolve() }
    let shown = try #require(try Self.blocks().first { $0.language == "text" }).text
    #expect(shown.contains("No initializer is registered for any Greeter for Lobby.greeter (Hello/Hello.swift:7)."))
    let advice = error.description.split(separator: "\n").dropFirst()
    #expect(!advice.isEmpty)
    for line in advice { #expect(shown.contains(line)) }
  }

  @Test("names the two commands and every module of the interface, in less than 120 lines")
  func commandsAndModules() throws {
    let text = try String(contentsOf: Self.readme, encoding: .utf8)
    let blocks = try Self.blocks().map(\.text)
    #expect(blocks.contains("swift run --package-path Examples Habits"))
    #expect(blocks.contains("swift test"))
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 120)
    let sources = Self.readme.deletingLastPathComponent().appending(path: "Sources")
    let modules = try FileManager.default.contentsOfDirectory(atPath: sources.path)
    for module in modules where !module.hasPrefix(".") && module != "Support" {
      #expect(text.contains("`\(module)`"), "\(module)")
    }
  }
}
