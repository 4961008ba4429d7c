import Foundation
import LaunchInitializers
import SpellTesting
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("A report", .timeLimit(.minutes(1))) struct LaunchReportTests {
  /// A launch of 1.25 s with one of everything.
  private func report() async throws -> LaunchReport {
    let clock = TestClock()
    let launch = try LaunchSequence(configuration: NoConfiguration(), width: 2, clock: clock) {
      take(.milliseconds(250), on: clock).id("log")
      Do { _ in throw SkipInitializer("no \"ApiKey\" <here>") }.id("crash")
      take(.milliseconds(1_000), on: clock).id("database").after("log")
      Do { _ in
        try await clock.sleep(for: .milliseconds(500))
        throw Broken()
      }.id("flags").after("log").onFailure(.skip)
      take(.milliseconds(500), on: clock).id("cache").after("log")
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(250))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(500))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(500))
    return try await launched.value
  }

  @Test("draws its times as bars that a person can read")
  func timeline() async throws {
    #expect(
      try await report().timeline() == """
        1.25 s, 3 completed, 1 skipped, 1 failed
                     0 s                                       1.25 s
        log      ✓ * ██████████                                        250 ms
        crash    ○             ·                                       skipped: no "ApiKey" <here>  after log
        database ✓ *           ██████████████████████████████████████  1 s  after log
        flags    ✗             ███████████████████                     failed after 500 ms: Broken(number: 0)  after log
        cache    ✓             ░░░░░░░░░░░░░░░░░░░███████████████████  500 ms  after log, waited 500 ms for its turn

        """)
  }

  @Test("is JSON that a parser reads, with times in seconds")
  func json() async throws {
    struct Parsed: Decodable {
      struct Entry: Decodable {
        let id: String
        let outcome: String
        let queued, start, end: Double
        let attempts: Int
        let message: String?
        let waitedFor: [String]
        let wasAbandoned: Bool
      }
      let duration: Double
      let criticalPath: [String]
      let entries: [Entry]
    }
    let json = try await report().json
    let parsed = try JSONDecoder().decode(Parsed.self, from: Data(json.utf8))
    #expect(json.contains("\"duration\": 1.25,"))
    #expect(parsed.criticalPath == ["log", "database"])
    #expect(parsed.entries.map(\.id) == ["log", "crash", "database", "flags", "cache"])
    #expect(parsed.entries.map(\.outcome) == ["completed", "skipped", "completed", "failed", "completed"])
    #expect(parsed.entries[1].message == "no \"ApiKey\" <here>")
    #expect(parsed.entries[4].queued == 0.25 && parsed.entries[4].start == 0.75 && parsed.entries[4].end == 1.25)
  }

  @Test("is a picture of well-formed XML with a bar for each step")
  func svg() async throws {
    let svg = try await report().svg()
    #expect(svg.hasPrefix("<svg") && svg.hasSuffix("</svg>\n"))
    #expect(svg.contains("no &quot;ApiKey&quot; &lt;here&gt;"))
    #expect(!svg.contains("<here>"))
    #expect(XMLParser(data: Data(svg.utf8)).parse())
    #expect(svg.matches(of: /<title>/).count == 5)
  }

  @Test("of nothing says so")
  func empty() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) { Do { _ in } }
    let report = await launch.enterForeground()
    #expect(report.timeline() == "Nothing ran.\n")
    #expect(report.criticalPath.isEmpty)
    #expect(report.svg().hasPrefix("<svg"))
    #expect(report.json.contains("\"entries\": ["))
    #expect(report.duration == .zero)
  }

  @Test(
    "writes times with three digits that matter",
    arguments: [
      (Duration.nanoseconds(7), "7 ns"), (.microseconds(850), "850 µs"), (.nanoseconds(12_345_678), "12.3 ms"),
      (.nanoseconds(999_999), "1 ms"), (.milliseconds(1_250), "1.25 s"), (.seconds(1_234), "1234 s"),
    ])
  func durations(duration: Duration, text: String) async throws {
    let clock = TestClock()
    let launch = try LaunchSequence(configuration: NoConfiguration(), clock: clock) { take(duration, on: clock) }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(1)
    clock.advance(by: duration)
    #expect(try await launched.value.timeline().hasPrefix("\(text), 1 completed"))
  }
}
