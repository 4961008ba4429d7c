import Foundation
import SpellTesting
import Spellbook
import Testing

private protocol WallClock: Sendable { var time: String { get } }
private struct FixedClock: WallClock { let time: String }

// The README's first lines of code, word for word.
private final class Player {
  @Lazy var cache = ["made when first read"]
  @Injected var clock: any WallClock
  @Final var id: Int
  @Preference var volume = 5
}

@Suite("README", .registry) struct ReadmeTests {
  private static let file = URL(filePath: #filePath)
  private static let readme = file.deletingLastPathComponent().appending(path: "../../README.md")

  /// The fenced blocks of the README, without their fences.
  private static func blocks() throws -> [String] {
    try String(contentsOf: readme, encoding: .utf8).split(separator: "```", omittingEmptySubsequences: false)
      .enumerated().filter { !$0.offset.isMultiple(of: 2) }
      .map { $0.element.drop { $0 != "\n" }.trimmingCharacters(in: .newlines) }
  }

  @Test("shows code that compiles, and its output")
  func firstLines() throws {
    var output = ""
    func print(_ items: Any...) { output += items.map { "\($0)" }.joined(separator: " ") + "\n" }

    InitializerRegistry.current.register((any WallClock).self) { FixedClock(time: "12:00") }
    let player = Player()
    player.id = 7
    player.volume += 1
    print(player.$cache.isInitialized, player.cache, player.clock.time, player.id, Player().volume)
    do { try player.$id.assign(8) } catch { print(error) }

    let blocks = try Self.blocks()
    #expect(output.trimmingCharacters(in: .newlines) == blocks[1])
    let source = try String(contentsOf: Self.file, encoding: .utf8)
    for line in blocks[0].split(separator: "\n") where !line.hasPrefix("final class") {
      #expect(source.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
    }
  }

  @Test("names the two commands, and every module that there is")
  func commandsAndModules() throws {
    let text = try String(contentsOf: Self.readme, encoding: .utf8)
    let blocks = try Self.blocks()
    #expect(blocks.contains("swift run --package-path Examples Habits"))
    #expect(blocks.contains("swift test"))
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 150)
    let sources = Self.readme.deletingLastPathComponent().appending(path: "Sources")
    for module in try FileManager.default.contentsOfDirectory(atPath: sources.path) where !module.hasPrefix(".") {
      #expect(text.contains("`\(module)`"), "\(module)")
    }
  }
}
