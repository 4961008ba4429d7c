import Foundation
import SpellTesting
import Spellbook
import Testing

private protocol Greeter { var text: String { get } }

/// The README's lobby, with a service that isn't a declared key.
private enum ByType {
  final class Lobby {
    @Injected var greeter: any Greeter
  }
}

/// `.ci/follow-getting-started` runs the README's program and its test word for word.
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

  @Test("shows a launch that is compiled")
  func launch() throws {
    let program = Self.readme.deletingLastPathComponent().appending(path: "Tests/Alone/LaunchInitializers.swift")
    let shown = try #require(try Self.blocks().last { $0.language == "swift" }).text
    #expect(try String(contentsOf: program, encoding: .utf8).contains(shown))
  }

  @Test("shows the error of a missing registration")
  func missing() throws {
    let error = try #require(throws: InjectionError.self) { try ByType.Lobby().$greeter.resolve() }
    let shown = try #require(try Self.blocks().first { $0.language == "text" }).text
    #expect(shown.contains("No initializer is registered for any Greeter for Lobby.greeter (Hello/Hello.swift:11)."))
    let advice = error.description.split(separator: "\n").dropFirst()
    #expect(!advice.isEmpty)
    for line in advice { #expect(shown.contains(line)) }
  }

  @Test("names the two commands and every module of the interface, in less than 110 lines")
  func commandsAndModules() throws {
    let text = try String(contentsOf: Self.readme, encoding: .utf8)
    #expect(text.contains("`swift run --package-path Examples Habits`"))
    #expect(text.contains("`swift test`"))
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 110)
    let sources = Self.readme.deletingLastPathComponent().appending(path: "Sources")
    let modules = try FileManager.default.contentsOfDirectory(atPath: sources.path)
    for module in modules where !module.hasPrefix(".") && module != "Support" {
      #expect(text.contains("`\(module)`"), "\(module)")
    }
  }
}
