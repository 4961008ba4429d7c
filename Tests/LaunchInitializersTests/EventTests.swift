@testable import LaunchInitializers
import SpellTesting
import Support
import TestSupport
import Testing

@Suite("Events", .timeLimit(.hang)) struct EventTests {
  let clock = TestClock()

  @Test("a stream reports all events in order, between the beginning and end of each phase, until the shutdown")
  func order() async throws {
    let calls = Counter()
    let launch = try LaunchSequence(clock: clock) {
      Do { _ in }.id("a")
      Do { _ in if calls.increment() == 1 { throw Broken(number: 7) } }.id("b").onFailure(.retry(1, after: .zero))
      Do { _ in throw SkipInitializer("no key") }.id("c")
    }
    let events = launch.events
    try await launch.launch()
    await launch.shutDown()
    var lines: [String] = []
    // On a busy machine, the log may also say that the launch waits for a step.
    for await event in events where !"\(event)".contains("still waiting") { lines.append("\(event)") }
    #expect(
      lines == [
        "launch: began", "launch: a began", "launch: a completed", "launch: b began",
        "launch: b failed, next attempt in 0 s: Broken(number: 7)", "launch: b began, attempt 2",
        "launch: b completed", "launch: c began", "launch: c skipped: no key", "launch: ended after 0 s",
        "shutDown: began: shutDown() was called", "shutDown: b began", "shutDown: b completed", "shutDown: a began",
        "shutDown: a completed", "shutDown: ended after 0 s",
      ])
    for await event in launch.events { Issue.record("\(event) after the end") }
  }

  @Test("a step whose code gets no thread is named ten seconds after its turn has come, and not before")
  func waitForThread() throws {
    let steps = [Do { _ in }.id("first"), Do { _ in }.id("second")]
    var machine = LaunchMachine(try LaunchPlan(steps, stage: .test), maxConcurrentSteps: 8, grace: .zero)
    var (lines, started): ([String], [LaunchMachine.Job]) = ([], [])
    func give(_ input: LaunchMachine.Input, at time: Duration) {
      for action in machine.handle(input, at: time) {
        if case .event(let event) = action { lines.append("\(time): \(event)") }
        if case .start(let job) = action { started.append(job) }
      }
    }
    give(.call(1, .launch), at: .zero)
    let first = try #require(started.last)
    _ = machine.began(first, at: .zero)
    give(.ended(first, .completed), at: .seconds(3))
    #expect(started.map(\.step) == [0, 1])
    give(.fired(.watch), at: .seconds(10))
    give(.fired(.watch), at: .seconds(13))
    #expect(lines.filter { $0.contains("still waiting") } == ["13.0 seconds: launch: still waiting for second"])
  }

  @Test("a step that doesn't ask to be repeated has an event of its end, and isn't reported")
  func notRepeated() async throws {
    let launch = try LaunchSequence(clock: clock) {
      Do { _ in }.id("once")
      Do(wantsForeground: true) { _ in }.id("again")
    }
    try await launch.launch()
    let events = launch.events
    await launch.enterBackground()
    #expect(await launch.enterForeground().entries.map(\.id) == ["again"])
    await launch.shutDown()
    var lines: [String] = []
    for await event in events where event.phase == .foreground { lines.append("\(event)") }
    #expect(
      lines == [
        "foreground: began", "foreground: once began", "foreground: once skipped: doesn't ask to be repeated",
        "foreground: again began", "foreground: again completed", "foreground: ended after 0 s",
      ])
  }

  @Test("the log has a failure before the shutdown that follows from it, whichever threads report them")
  func logOrder() async throws {
    for _ in 0..<50 {
      let (goOn, end, shutsDown, journal) = (AsyncLatch(), AsyncLatch(), Latch(), Journal())
      let launch = try LaunchSequence(
        cancellationGracePeriod: .zero, clock: ContinuousClock(),
        log: { line in
          if line.hasPrefix("launch: bad failed") {
            goOn.open()
            shutsDown.wait()
          }
          journal.note(line)
        }
      ) {
        Do { _ in }.id("up").patient()
        Do { _ in await goOn.wait() }.id("other").after("up").patient()
        Do { _ in await end.wait() }.id("bad").after("up").timeout(.milliseconds(1))
      }
      let events = launch.events
      let reader = Task { for await event in events where event.phase == .shutDown { shutsDown.open() } }
      await #expect(throws: LaunchError.self) { try await launch.launch() }
      await reader.value
      end.open()
      let prefixes = ["launch: bad failed: ", "shutDown: began: bad failed: "]
      #expect(journal.entries.compactMap { line in prefixes.first { line.hasPrefix($0) } } == prefixes)
    }
  }

  @Test("a log that cancels the launch gets the lines that follow, before the launch throws")
  func logCancels() async throws {
    let (journal, launching, isSet) = (Journal(), Box<Task<LaunchReport, any Error>>(), Latch())
    let launch = try LaunchSequence(
      cancellationGracePeriod: .seconds(300),
      log: { line in
        if line.contains("still waiting") { return }
        isSet.wait()
        launching.value.withLock { $0 }?.cancel()
        journal.note(line)
      }
    ) {
      Do { _ in }.id("up")
      Do { _ in throw Broken() }.id("bad").onFailure(.skip)
      Do { _ in try await untilCancelled(0) }.id("next")
    }
    let task = Task { try await launch.launch() }
    launching.value.withLock { $0 = task }
    isSet.open()
    let error = try await #require(throws: LaunchError.self) { try await task.value }
    #expect(error.code == .cancelled)
    #expect(
      journal.entries == ["launch: bad failed: Broken(number: 0)", "shutDown: began: the launch was cancelled"])
  }

  @Test("a deferred step begins after the event of the launch's end")
  func deferred() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      Do { _ in }.id("a")
      Do { _ in }.id("b").deferred()
      Do { _ in }.id("c").deferred().only(in: .production)
    }
    let events = launch.events
    try await launch.launch()
    await launch.shutDown()
    var lines: [String] = []
    for await event in events { lines.append("\(event)") }
    let end = try #require(lines.firstIndex { $0.hasPrefix("launch: ended") })
    let deferred = try #require(lines.firstIndex { $0.hasPrefix("deferred: ") })
    #expect(end < deferred, "\(lines)")
  }

  @Test("a stream that isn't read anymore is forgotten")
  func forgotten() async throws {
    let launch = try LaunchSequence { Do { _ in }.id("a") }
    let kept = launch.events
    for _ in 0..<1_000 { _ = launch.events }
    #expect(launch.state.withLock { $0.streams.count } == 1)
    try await launch.launch()
    await launch.shutDown()
    var count = 0
    for await event in kept {
      // If the machine stalls for ten seconds, the launch reports that it waits.
      if case .waiting = event.kind { continue }
      count += 1
    }
    #expect(count == 8)
    #expect(launch.state.withLock { $0.streams.isEmpty })
  }

  @Test("a service that restarts very often keeps a limited number of errors, the first and the latest")
  func errors() async throws {
    struct Fails: RunningInitializer {
      let runs = Counter()
      func run(_ configuration: any Configurable) async throws {
        let run = runs.increment()
        if run > 300 { try await untilCancelled(run) }
        throw Broken(number: run)
      }
    }
    let service = Fails()
    let launch = try LaunchSequence(configuration: NoConfiguration(), log: { _ in }) {
      service.id("feed").onExit(.restart(max: 1_000, within: .seconds(1_000), backoff: .constant(.zero)))
    }
    try await launch.launch()
    while service.runs.value <= 300 { await Task.yield() }
    let errors = launch.report?.entries[0].errors.compactMap { ($0 as? Broken)?.number } ?? []
    #expect(errors == Array(1...50) + Array(251...300))
    await launch.shutDown()
  }

  @Test("each stream of a failing launch ends after the roll-back")
  func failure() async throws {
    for _ in 0..<50 {
      let launch = try LaunchSequence {
        Do { _ in }.id("up")
        for number in 0..<5 { Do { _ in if number == 3 { throw Broken() } }.id("\(number)").after("up") }
      }
      let (first, second) = (launch.events, launch.events)
      await #expect(throws: LaunchError.self) { try await launch.launch() }
      var (count, began, ended) = (0, 0, 0)
      var last: LaunchEvent?
      for await event in first {
        count += 1
        if case .began = event.kind { began += 1 }
        if case .ended = event.kind { ended += 1 }
        last = event
      }
      for await _ in second { count -= 1 }
      #expect(count == 0)
      #expect(began == ended)
      #expect(last?.kind == .phaseEnded)
      #expect(last?.phase == .shutDown)
    }
  }
}
