import Foundation
import SpellTesting
import Spellbook
import Testing

// The README's program, word for word but for `@main`.
private protocol WallClock: Sendable { var time: String { get } }
private struct FixedClock: WallClock { let time: String }

private final class Player {
  @Lazy var cache = ["created when first read"]
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

  @Test("shows a program that compiles, and its output")
  func program() throws {
    var output = ""
    func print(_ items: Any...) { output += items.map { "\($0)" }.joined(separator: " ") + "\n" }

    InitializerRegistry.current.register((any WallClock).self) { FixedClock(time: "12:00") }
    let player = Player()
    player.id = 7
    player.volume = 6
    print(player.$cache.isInitialized, player.cache, player.clock.time)
    print("Another player's volume:", Player().volume)
    do { try player.$id.assign(8) } catch { print(error) }

    let blocks = try Self.blocks()
    let (code, shown) = (blocks[1], blocks[2])
    #expect(output.trimmingCharacters(in: .newlines) == shown)
    let source = try String(contentsOf: Self.file, encoding: .utf8)
    let differing = ["import Spellbook", "@main", "static func main()", "InitializerRegistry.shared"]
    for line in code.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) })
    where !differing.contains(where: line.hasPrefix) {
      #expect(source.contains(line), "\(line)")
    }
  }

  @Test("names the two commands and every module")
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
