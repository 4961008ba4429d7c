import Foundation
import LaunchInitializers
import SpellTesting
import TestSupport
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Reports", .timeLimit(.minutes(10))) struct LaunchReportTests {
  /// A launch of 1.25 s with one of everything.
  private func report() async throws -> LaunchReport {
    let clock = TestClock()
    let launch = try LaunchSequence(configuration: NoConfiguration(), maxConcurrentSteps: 2, clock: clock) {
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

  @Test("a timeline shows the times of the steps as bars")
  func timeline() async throws {
    #expect(
      try await report().timeline() == """
        1.25 s, 3 completed, 1 skipped, 1 failed
                     0 s                                       1.25 s
        log      ✓ * ██████████                                        250 ms
        crash    ○             ·                                       skipped: no "ApiKey" <here>  after log
        database ✓ *           ██████████████████████████████████████  1 s  after log
        flags    ✗             ███████████████████                     failed after 500 ms: Broken(number: 0)  after log
        cache    ✓             ░░░░░░░░░░░░░░░░░░░███████████████████  500 ms  after log, waited 500 ms for the slot of flags

        """)
  }

  @Test("the critical path includes steps whose slots were taken over")
  func criticalPathThroughPlaces() async throws {
    let clock = TestClock()
    let launch = try LaunchSequence(configuration: NoConfiguration(), maxConcurrentSteps: 2, clock: clock) {
      take(.seconds(4), on: clock).id("long").after()
      take(.seconds(1), on: clock).id("log").after()
      take(.seconds(2), on: clock).id("flags").after("log")
      take(.seconds(3), on: clock).id("cache").after("log")
      take(.seconds(2), on: clock).id("search").after("log")
    }
    let launched = Task { try await launch.launch() }
    for step in [1, 2, 1, 2] {
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(step))
    }
    let report = try await launched.value
    #expect(report.entries.map(\.id) == ["long", "log", "flags", "cache", "search"])
    #expect(report.entries.map(\.queued) == [0, 0, 1, 1, 1].map { .seconds($0) })
    #expect(report.entries.map(\.start) == [0, 0, 1, 3, 4].map { .seconds($0) })
    #expect(report.entries.map(\.end) == [4, 1, 3, 6, 6].map { .seconds($0) })
    #expect(report.entries.map(\.tookSlotOf) == [nil, nil, nil, "flags", "long"])
    #expect(report.criticalPath == ["log", "flags", "cache"])
    #expect(
      report.timeline() == """
        6 s, 5 completed
                   0 s                                          6 s
        long   ✓   ████████████████████████████████                  4 s
        log    ✓ * ████████                                          1 s
        flags  ✓ *         ████████████████                          2 s  after log
        cache  ✓ *         ░░░░░░░░░░░░░░░░████████████████████████  3 s  after log, waited 2 s for the slot of flags
        search ✓           ░░░░░░░░░░░░░░░░░░░░░░░░████████████████  2 s  after log, waited 3 s for the slot of long

        """)
    #expect(report.svg().matches(of: /stroke-dasharray/).count == 2)
  }

  @Test("the critical path includes a step whose slot was taken over during its pause")
  func criticalPathThroughPause() async throws {
    let (clock, journal) = (TestClock(), Journal())
    let launch = try LaunchSequence(configuration: NoConfiguration(), maxConcurrentSteps: 1, clock: clock) {
      Do { _ in
        journal.note("try")
        try await clock.sleep(for: .seconds(1))
        if journal.entries.count == 1 { throw Broken() }
      }.id("net").after().onFailure(.retry(1, after: .seconds(1)))
      take(.seconds(4), on: clock).id("big").after()
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(4))
    await clock.waitForSleeper(until: .seconds(6))
    clock.advance(by: .seconds(1))
    let report = try await launched.value
    #expect(report.entries.map(\.tookSlotOf) == [nil, "net"])
    #expect(report.entries.map(\.end) == [.seconds(6), .seconds(5)])
    #expect(report.criticalPath == ["net"])
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
        let tookSlotOf: String?
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
    #expect(parsed.entries.map(\.tookSlotOf) == [nil, nil, nil, nil, "flags"])
    #expect(parsed.entries[1].message == "no \"ApiKey\" <here>")
    #expect(parsed.entries[4].queued == 0.25 && parsed.entries[4].start == 0.75 && parsed.entries[4].end == 1.25)
  }

  @Test("the SVG of a report is well-formed, and has a bar for each step")
  func svg() async throws {
    let svg = try await report().svg()
    #expect(svg.hasPrefix("<svg") && svg.hasSuffix("</svg>\n"))
    #expect(svg.contains("no &quot;ApiKey&quot; &lt;here&gt;"))
    #expect(!svg.contains("<here>"))
    #expect(XMLParser(data: Data(svg.utf8)).parse())
    #expect(svg.matches(of: /<title>/).count == 5)
  }

  @Test(
    "control characters of ids and errors are escaped",
    arguments: [
      "\u{1b}[31mred\u{1b}[2J", "line\nbreak\rX", "\u{9b}31m", "\u{202e}rtl", "\u{2028}next", "\u{7}", "\u{0}",
    ])
  func hostile(text: String) async throws {
    struct Hostile: Error, CustomStringConvertible { let description: String }
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      Do { _ in throw Hostile(description: text) }.id(text).onFailure(.skip)
      note("x", Journal()).id("x").requires(text)
    }
    let (events, report) = (launch.events, try await launch.launch())
    await launch.shutDown()
    var shown =
      report.warnings + report.timeline().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(shown.count == 2 + 5)
    for await event in events { shown.append("\(event)") }
    let error = await #expect(throws: LaunchError.self) {
      try await LaunchSequence(configuration: NoConfiguration()) {
        Do { _ in throw Hostile(description: text) }.id(text)
      }
      .launch()
    }
    shown.append("\(try #require(error))")
    let mistake = #expect(throws: LaunchPlanError.self) {
      try LaunchSequence(configuration: NoConfiguration()) { note("a", Journal()).id(text).after(text) }
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

  @Test("the bar of a failed step is red, and no other")
  func colors() async throws {
    let bars = try await report().svg().split(separator: "\n").filter { $0.hasPrefix("<g><title>") }
    #expect(bars.count == 5)
    for bar in bars {
      #expect(bar.contains("fill=\"#c0392b\"") == bar.hasPrefix("<g><title>flags: failed"), "\(bar)")
    }
  }

  @Test("the columns of a timeline are counted as a terminal shows them")
  func displayWidth() async throws {
    let ids = ["日本語", "e\u{301}t\u{e9}", "👩‍👩‍👧‍👦 x", "한국", "plain"]
    let report = try await LaunchSequence(configuration: NoConfiguration()) { for id in ids { Do { _ in }.id(id) } }
      .launch()
    let columns = [6, 3, 4, 4, 5]
    for (line, (id, width)) in zip(report.timeline().split(separator: "\n").dropFirst(2), zip(ids, columns)) {
      #expect(line.hasPrefix(id + String(repeating: " ", count: 6 - width) + " ✓"))
    }
  }

  @Test("the timeline of an empty report says that nothing ran")
  func empty() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) { Do { _ in } }
    let report = await launch.enterForeground()
    #expect(report.timeline() == "Nothing ran.\n")
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
      // The last that there is a number of nanoseconds for, and one more.
      (.nanoseconds(Int64.max), "9223372036.85 s"), (.nanoseconds(Int64.max) + .nanoseconds(1), "9223372036.85 s"),
      (.seconds(Int64.max), "9223372036.85 s"),
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
