import Foundation
@testable import LaunchInitializers
import SpellTesting
import Support
import TestSupport
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Reports", .timeLimit(.hang)) struct LaunchReportTests {
  /// Returns the report of a launch of 1.25 s with each kind of outcome.
  private func report() async throws -> LaunchReport {
    let clock = TestClock()
    let launch = try LaunchSequence(maxConcurrentSteps: 2, clock: clock) {
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
    await clock.pass(.milliseconds(250))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(500))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(500))
    return try await launched.value
  }

  @Test("a step that doesn't run has no time from before the launch")
  func notRun() async throws {
    let clock = TestClock()
    let launch = try LaunchSequence(clock: clock) {
      Do { _ in throw Broken() }.id("bad")
      Do { _ in }.id("late")
    }
    clock.advance(by: .seconds(5))
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    let late = try #require(error.report?.entry("late"))
    #expect(late.outcome == .notRun)
    #expect([late.queued, late.start, late.end] == [.zero, .zero, .zero])
  }

  @Test("a step that hasn't ended has taken no time, in JSON too")
  func underWay() async throws {
    let (clock, gate) = (TestClock(), Gate())
    let launch = try LaunchSequence(clock: clock) {
      take(.milliseconds(50), on: clock).id("a")
      Do { _ in await gate.pass() }.id("later").deferred()
    }
    let launching = Task { try await launch.launch() }
    await clock.advance(through: .milliseconds(50))
    _ = try await launching.value
    await gate.waitForArrival()
    let report = try #require(launch.report)
    let later = try #require(report.entry("later"))
    #expect(later.outcome == .notRun)
    #expect([later.start, later.end, later.duration] == [.milliseconds(50), .milliseconds(50), .zero])
    #expect(report.json().contains("\"start\": 0.05, \"end\": 0.05"))
    // The scale is limited to the report's duration, after which the step began.
    #expect(LaunchReport.Scale(duration: report.duration, width: 640).position(of: .seconds(5)) == 640)
    gate.open()
    await launch.shutDown()
  }

  @Test("a timeline shows the times of the steps as bars")
  func timeline() async throws {
    #expect(
      try await report().timeline() == """
        1.25 s, 3 completed, 1 skipped, 1 failed
        log      ✓ * ██████████                                        250 ms
        crash    ○             ·                                       skipped: no "ApiKey" <here>  after log
        database ✓ *           ██████████████████████████████████████  1 s  after log
        flags    ✗             ███████████████████                     failed after 500 ms: Broken(number: 0)  after log
        cache    ✓             ░░░░░░░░░░░░░░░░░░░███████████████████  500 ms  after log

        """)
  }

  @Test("the JSON of a report can be parsed, and has times in seconds")
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
    let json = try await report().json()
    let parsed = try JSONDecoder().decode(Parsed.self, from: Data(json.utf8))
    #expect(json.contains("\"duration\": 1.25,"))
    #expect(parsed.criticalPath == ["log", "database"])
    #expect(parsed.entries.map(\.id) == ["log", "crash", "database", "flags", "cache"])
    #expect(parsed.entries.map(\.outcome) == ["completed", "skipped", "completed", "failed", "completed"])
    #expect(parsed.entries[1].message == "no \"ApiKey\" <here>")
    #expect(parsed.entries[4].queued == 0.25 && parsed.entries[4].start == 0.75 && parsed.entries[4].end == 1.25)
  }

  @Test("the SVG of a report is well-formed, and has a bar for each step, red for a failed one")
  func svg() async throws {
    let svg = try await report().svg()
    #expect(svg.hasPrefix("<svg") && svg.hasSuffix("</svg>\n"))
    #expect(svg.contains("no &quot;ApiKey&quot; &lt;here&gt;"))
    #expect(!svg.contains("<here>"))
    #expect(XMLParser(data: Data(svg.utf8)).parse())
    #expect(svg.matches(of: /<rect x=/).count == 5)
    let red = svg.split(separator: "\n").filter { $0.contains("#c0392b") }
    #expect(red.count == 1 && red[0].contains(">flags<"))
  }

  @Test("the critical path goes through what a group or the deferred steps waited for")
  func outside() async throws {
    let clock = TestClock()
    let launch = try LaunchSequence(configuration: NoConfiguration(), clock: clock) {
      Do { _ in }.id("fast").after()
      take(.seconds(3), on: clock).id("slow").after()
      LaunchGroup("storage") { take(.seconds(2), on: clock).id("cache").after("fast") }.after("slow")
      Do { _ in }.id("later").after("fast").deferred()
    }
    let events = launch.events
    let launching = Task { try await launch.launch() }
    for await event in events where event.id == "fast" && event.kind == .ended(.completed) { break }
    await clock.advance(through: .seconds(3), .seconds(5))
    let report = try await launching.value
    #expect(report.criticalPath == ["slow", "cache"])
    #expect(report.entry("cache")?.waitedFor == ["fast", "slow"])
    await launch.shutDown()
    let later = try #require(launch.state.withLock { $0.machine.report(of: .launch) }.entry("later"))
    #expect(later.waitedFor == ["fast", "cache"])
    #expect(later.queued == .seconds(5))
  }

  @Test("the picture has room for long names and notes")
  func longTexts() async throws {
    struct Long: Error, CustomStringConvertible { let description: String }
    let text = String(repeating: "the database at db-1.internal refused the connection ", count: 20)
    let launch = try LaunchSequence(configuration: NoConfiguration(), log: { _ in }) {
      Do { _ in throw Long(description: text) }.id("数据库初始化程序\u{1b}[31m").onFailure(.skip)
      Do { _ in throw Long(description: String(repeating: "x", count: 1_000)) }.id("long").onFailure(.skip)
    }
    let report = try await launch.launch()
    #expect(PictureTexts.problems(of: report) == [])
    // The picture has all parts of the note.
    #expect(report.svg().components(separatedBy: "refused").count == 21)
    #expect(report.svg().count { $0 == "x" } > 1_000)
    // The two spaces between the parts of a note are drawn.
    #expect(report.svg().contains("<style>text { white-space: pre; }</style>"))
    await launch.shutDown()
  }

  @Test(
    "control characters of ids and errors are escaped",
    arguments: [
      "\u{1b}[31mred\u{1b}[2J", "line\nbreak\rX", "\u{9b}31m", "\u{202e}rtl", "\u{2028}next", "\u{7}", "\u{0}",
    ])
  func hostile(text: String) async throws {
    struct Hostile: Error, CustomStringConvertible { let description: String }
    let launch = try LaunchSequence {
      Do { _ in throw Hostile(description: text) }.id(text).onFailure(.skip)
      note("x", Journal()).id("x").requires(text)
    }
    let (events, report) = (launch.events, try await launch.launch())
    await launch.shutDown()
    var shown =
      report.warnings + report.timeline().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(shown.count == 2 + 4)
    for await event in events { shown.append("\(event)") }
    let error = await #expect(throws: LaunchError.self) {
      try await LaunchSequence {
        Do { _ in throw Hostile(description: text) }.id(text)
      }
      .launch()
    }
    shown.append("\(try #require(error))")
    let mistake = #expect(throws: LaunchPlanError.self) {
      try LaunchSequence { note("a", Journal()).id(text).after(text) }
    }
    shown.append("\(try #require(mistake))")
    for line in shown {
      let isPlain = line.unicodeScalars.allSatisfy { scalar in
        ![.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
      }
      #expect(isPlain, "\(line.debugDescription)")
    }
    #expect(report.entries.first?.id == text)
    #expect(XMLParser(data: Data(report.svg().utf8)).parse())
  }

  @Test("the timeline of an empty report says that nothing ran")
  func empty() async throws {
    let launch = try LaunchSequence { Do { _ in } }
    let report = await launch.enterForeground()
    #expect(report.timeline() == "0 s\n")
    #expect(report.criticalPath.isEmpty)
    #expect(report.svg().hasPrefix("<svg"))
    #expect(report.json().contains("\"entries\": ["))
    #expect(report.duration == .zero)
  }

  @Test(
    "times have three significant digits",
    arguments: [
      (Duration.nanoseconds(7), "7 ns"), (.microseconds(850), "850 µs"), (.nanoseconds(12_345_678), "12.3 ms"),
      (.nanoseconds(999_999), "1 ms"), (.milliseconds(1_250), "1.25 s"), (.seconds(1_234), "1234 s"),
      (.seconds(Int64.max), "9.223372036854776e+18 s"),
    ])
  func durations(duration: Duration, text: String) async throws {
    let clock = TestClock()
    let launch = try LaunchSequence(clock: clock) { take(duration, on: clock) }
    let launched = Task { try await launch.launch() }
    await clock.pass(duration)
    #expect(try await launched.value.timeline().hasPrefix("\(text), 1 completed"))
  }
}
