import LaunchInitializers
import SpellTesting
import TestSupport
import Testing

@Suite("Groups of steps", .timeLimit(.hang)) struct GroupTests {
  let journal = Journal()

  private func sequence(
    _ configuration: NoConfiguration = NoConfiguration(), @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws -> LaunchSequence {
    // The times show which step ended last. No test here shuts a sequence down.
    try LaunchSequence(configuration: configuration, clock: ContinuousClock(), steps)
  }

  private func mistake(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchPlanError {
    try #require(throws: LaunchPlanError.self) { try sequence(NoConfiguration(), steps) }
  }

  private func step(_ name: String) -> LaunchStep { note(name, journal).id(name) }

  /// Returns the steps that each step waited for.
  private func waits(@LaunchBuilder _ steps: () -> [LaunchStep]) async throws -> [String: [String]] {
    let report = try await sequence(NoConfiguration(), steps).launch()
    return Dictionary(uniqueKeysWithValues: report.entries.map { ($0.id, $0.waitedFor) })
  }

  @Test("a step that is named twice is reported once")
  func duplicates() async throws {
    let waits = try await waits {
      step("first")
      step("second").after("first", "first").requires("first")
    }
    #expect(waits == ["first": [], "second": ["first"]])
  }

  @Test("a group takes its turn in a list as one step")
  func line() async throws {
    let waits = try await waits {
      step("first")
      LaunchGroup("storage") {
        step("a").after()
        step("b").after()
        step("c").after("a")
      }
      step("last")
    }
    // For a group, the report names the step that ended last.
    #expect(waits["last"] == ["b"] || waits["last"] == ["c"])
    #expect(waits.filter { $0.key != "last" } == ["first": [], "a": ["first"], "b": ["first"], "c": ["a"]])
  }

  @Test("a group can wait, and can be waited for, as a whole")
  func references() async throws {
    let waits = try await waits {
      LaunchGroup("storage") {
        step("a")
        step("b")
      }.after("logging")
      step("ui").after("storage")
      step("early").before("storage")
      step("logging").after()
      step("beside").after()
      LaunchGroup("late") {
        step("x").after()
        step("y").after()
      }.after("storage")
    }
    // For a group that waits, the report names the step that ended last.
    #expect(waits["a"] == ["early"] || waits["a"] == ["logging"])
    #expect(
      waits.filter { $0.key != "a" } == [
        "b": ["a"], "ui": ["b"], "early": [], "logging": [], "beside": [], "x": ["b"], "y": ["b"],
      ])
  }

  @Test("a step that requires a group is skipped if one step of the group fails")
  func requires() async throws {
    let report = try await sequence {
      LaunchGroup("storage") {
        Do { _ in throw Broken() }.id("bad").onFailure(.skip)
        step("good")
      }
      step("needs").requires("storage")
      step("wants").after("storage")
    }.launch()
    #expect(journal.entries == ["good", "wants"])
    #expect(report.entry("needs")?.message == "requires bad of storage, which failed")
  }

  @Test("all steps of a group are skipped if a step that the group requires is skipped")
  func requiring() async throws {
    let report = try await sequence {
      Do { _ in throw SkipInitializer("no key") }.id("key")
      LaunchGroup("cloud") {
        step("a")
        step("b").after("a")
      }.requires("key")
    }.launch()
    #expect(report.entries.map(\.outcome) == [.skipped, .skipped, .skipped])
  }

  @Test("the modifiers of a group apply to its steps, whose own modifiers take precedence")
  func modifiers() async throws {
    let configuration = NoConfiguration(serviceStorage: ["A": [.test: ["On": "yes"]]])
    let attempts = Counter()
    let launch = try sequence(configuration) {
      LaunchGroup("retried") {
        Do { _ in if attempts.increment() < 3 { throw Broken() } }.id("flaky")
        Do { _ in throw Broken() }.id("bad").onFailure(.skip)
      }.onFailure(.retry(2, after: .zero))
      LaunchGroup("tests") {
        step("everywhere").only(in: .test, .development)
        step("elsewhere").only(in: .production)
      }.only(in: .test)
      LaunchGroup("later") { step("deferred") }.deferred()
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.id) == ["flaky", "bad", "everywhere", "elsewhere", "deferred"])
    #expect(
      report.entries.map(\.outcome) == [.completed, .failed, .completed, .skipped, .notRun])
    #expect(report.entries.prefix(2).map(\.attempts) == [3, 3])
  }

  @Test("the timeout of a group limits each of its steps")
  func timeout() async throws {
    let clock = TestClock()
    let launch = try LaunchSequence(clock: clock) {
      LaunchGroup("slow") {
        take(.seconds(60), on: clock).id("a").after()
        take(.seconds(60), on: clock).id("b").after().timeout(.seconds(4))
      }.timeout(.seconds(2)).onFailure(.skip)
    }
    let events = launch.events
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(4)
    clock.advance(by: .seconds(2))
    for await event in events where event.kind == .ended(.failed) { break }
    clock.advance(by: .seconds(2))
    #expect(try await launched.value.entries.map(\.duration) == [.seconds(2), .seconds(4)])
  }

  @Test("groups can be nested, and the report names the groups of each step")
  func nested() async throws {
    let report = try await sequence {
      LaunchGroup("app") {
        step("first")
        LaunchGroup("storage") {
          step("a").after()
          step("b").after()
        }
        step("last")
      }
      step("after all")
    }.launch()
    #expect(journal.entries.first == "first" && journal.entries.suffix(2) == ["last", "after all"])
    #expect(report.entry("last")?.waitedFor == ["a"] || report.entry("last")?.waitedFor == ["b"])
    #expect(report.entry("a")?.groups == ["app", "storage"])
    #expect(report.entry("after all")?.groups == [])
    #expect(report.timeline().contains("in app/storage  after first"))
    #expect(report.json().contains(#""groups": ["app", "storage"]"#))
    #expect(report.svg().contains("in app/storage  after first"))
  }

  @Test("a group without steps is nothing to wait for")
  func empty() async throws {
    let waits = try await waits {
      step("a")
      LaunchGroup("none") { for _ in 0..<0 { step("never") } }
      step("b")
      step("c").requires("none")
    }
    #expect(waits == ["a": [], "b": ["a"], "c": ["a"]])
  }

  @Test("the launch doesn't wait for the deferred steps of a group")
  func deferredMembers() async throws {
    let launch = try sequence {
      LaunchGroup("mixed") {
        step("now")
        step("later").deferred()
      }
      step("next")
      step("latest").deferred()
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.id) == ["now", "next", "later", "latest"])
    #expect(report.entries.prefix(2).map(\.outcome) == [.completed, .completed])
    #expect(report.entry("latest")?.waitedFor.contains("later") == false)
  }

  @Test("a group can't have the id of a step or of another group")
  func duplicates() throws {
    let both = try mistake {
      LaunchGroup("same") { step("a") }
      step("same")
    }
    #expect(both.code == .duplicateID)
    #expect(both.description.contains("Two steps or groups have the id \"same\""))
    let groups = try mistake {
      LaunchGroup("same") { step("a") }
      LaunchGroup("same") { step("b") }
    }
    #expect(groups.code == .duplicateID)
  }

  @Test("a group can't wait for its own steps, and they can't wait for the group", arguments: [false, true])
  func itself(groupWaits: Bool) throws {
    let error = try mistake {
      let group = LaunchGroup("storage") {
        if groupWaits { step("a") } else { step("a").after("storage") }
        step("b")
      }
      if groupWaits { group.after("a") } else { group }
    }
    #expect(error.code == .cycle)
    #expect(error.path == (groupWaits ? ["storage", "a", "storage"] : ["a", "storage", "a"]))
    #expect(error.description.contains("Refer to its steps."))
  }

  @Test("errors name the group in a cycle, and suggest a group for an unknown id")
  func messages() throws {
    let cycle = try mistake {
      LaunchGroup("storage") {
        step("a")
        step("b")
      }.after("ui")
      step("ui").after("b")
    }
    #expect(cycle.path.first == cycle.path.last)
    #expect(Set(cycle.path) == ["b", "storage", "ui"])
    let unknown = try mistake {
      LaunchGroup("storage") { step("a") }
      step("ui").after("storge")
    }
    #expect(unknown.description.contains("Did you mean \"storage\"?"))
  }

  @Test("a hundred groups of a hundred steps that wait for each other can be planned")
  func many() throws {
    let launch = try sequence {
      for group in 0..<100 {
        LaunchGroup("group \(group)") { for number in 0..<100 { step("\(group).\(number)").after() } }
      }
      step("last")
    }
    #expect(launch.description.hasSuffix("99.99, last)"))
  }
}
