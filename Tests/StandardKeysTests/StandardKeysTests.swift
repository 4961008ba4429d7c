import Foundation
import InjectedSpell
import SpellRegistry
import SpellTesting
import StandardKeys
import TestSupport
import Testing

@Suite("Standard keys", .registry(.strict), .timeLimit(.hang)) struct StandardKeysTests {
  var registry: InitializerRegistry { .current }
  let live = InitializerRegistry(context: .live)

  final class Page {
    @Injected(.now) var now
    @Injected(.uuid) var uuid
    @Injected(.clock) var clock
    @Injected(.randomNumberGenerator) var random
  }

  @Test("the time is the present, and in a test the beginning of 2001")
  func now() throws {
    let before = Date()
    let time = try live.resolve(.now)()
    #expect(before <= time && time <= Date())
    #expect(Page().now() == Date(timeIntervalSinceReferenceDate: 0))
    #expect(Page().now() == Page().now())
  }

  @Test("UUIDs differ, and in a test count from zero for every request", arguments: 0..<2)
  func uuid(_: Int) throws {
    let uuid = try live.resolve(.uuid)
    #expect(uuid() != uuid())
    #expect(Page().uuid().uuidString == "00000000-0000-0000-0000-000000000000")
    #expect(Page().uuid().uuidString == "00000000-0000-0000-0000-000000000001")
    let next = try registry.resolve(.uuid)
    for _ in 2..<256 { _ = next() }
    #expect(next().uuidString == "00000000-0000-0000-0000-000000000100")
  }

  @Test("UUIDs that tasks ask for at once are all different")
  func uuidsOfTasks() async {
    let uuid = Page().uuid
    let all = await withTaskGroup(of: [UUID].self) { group in
      for _ in 0..<8 { group.addTask { (0..<1_000).map { _ in uuid() } } }
      return await group.reduce(into: Set<UUID>()) { $0.formUnion($1) }
    }
    #expect(all.count == 8_000)
  }

  @Test("the clock is the continuous one, and in a test one that never waits")
  func clock() async throws {
    #expect(try live.resolve(.clock) is ContinuousClock)
    let clock = Page().clock
    let start = ContinuousClock.now
    try await clock.sleep(for: .seconds(3_600))
    #expect(start.duration(to: .now) < .seconds(600))
    #expect(try registry.resolve(.clock) as? ImmediateClock === clock as? ImmediateClock)
  }

  @Test("the clock is the one that the test's trait has", .registry(clock: TestClock()))
  func clockOfTrait() throws {
    let clock = try registry.resolve(TestClock.self)
    #expect(Page().clock as? TestClock === clock)
  }

  @Test("calendar, locale and time zone are the user's, and in a test the same everywhere")
  func user() throws {
    #expect(try live.resolve(.calendar) == .autoupdatingCurrent)
    #expect(try live.resolve(.locale) == .autoupdatingCurrent)
    #expect(try live.resolve(.timeZone) == .autoupdatingCurrent)
    let calendar = try registry.resolve(.calendar)
    #expect(calendar.identifier == .gregorian && calendar.timeZone == .gmt)
    #expect(calendar.locale?.identifier == "en_US_POSIX")
    #expect(try registry.resolve(.locale).identifier == "en_US_POSIX")
    #expect(try registry.resolve(.timeZone) == .gmt)
    let date = calendar.dateComponents([.year, .month, .day, .hour], from: Page().now())
    #expect(date.year == 2001 && date.month == 1 && date.day == 1 && date.hour == 0)
  }

  @Test("the environment is the process's, and in a test empty")
  func environment() throws {
    #expect(try live.resolve(.environment) == ProcessInfo.processInfo.environment)
    #expect(try registry.resolve(.environment) == [:])
  }

  @Test("random numbers are the same in each test", arguments: 0..<2)
  func random(_: Int) {
    let random = Page().random
    let numbers = (0..<3).map { _ in random { Int.random(in: 1...6, using: &$0) } }
    let source = RandomSource(seed: 0)
    #expect(numbers == (0..<3).map { _ in source { Int.random(in: 1...6, using: &$0) } })
    #expect(Page().random === random)
  }

  @Test("a preview's time and random numbers stand still")
  func preview() throws {
    let preview = InitializerRegistry(context: .preview)
    #expect(try preview.resolve(.now)() == Date(timeIntervalSinceReferenceDate: 0))
    #expect(try preview.resolve(.randomNumberGenerator).next() == RandomSource(seed: 0).next())
  }
}
