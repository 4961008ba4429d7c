import Foundation
import LaunchInitializers
import SpellTesting
import TestSupport
import Testing

/// Tests with many launches on the system's clocks.
///
/// With `LAUNCH_TESTS=long`, there are very many launches.
@Suite("Stress", .timeLimit(.hang)) struct StressTests {
  private static let isLong = ProcessInfo.processInfo.environment["LAUNCH_TESTS"] == "long"

  private struct Works: Initializable {
    func perform(with configuration: any Configurable) async throws {}
  }
  private struct Fails: Initializable {
    func perform(with configuration: any Configurable) async throws { throw Broken() }
  }

  /// Runs a body many times, in several tasks at once.
  private static func many(
    _ count: Int, tasks: Int = 4, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask { for number in stride(from: task, to: count, by: tasks) { try await body(number) } }
      }
      try await group.waitForAll()
    }
  }

  @Test("a launch with a failing step never returns as if it had succeeded", arguments: ["one", "beside", "line"])
  func failures(shape: String) async throws {
    let lost = Counter()
    try await Self.many(Self.isLong ? 200_000 : repetitions(debug: 1_000, release: 3_000)) { _ in
      let launch = try LaunchSequence(clock: ContinuousClock(), log: { _ in }) {
        switch shape {
        case "one": Fails()
        case "beside":
          Works().id("works").after()
          Fails().id("fails").after()
          Works().id("never").after("fails")
        default:
          Works()
          Fails()
          Works()
        }
      }
      do {
        try await launch.launch()
        lost.increment()
      } catch {}
    }
    #expect(lost.value == 0)
  }

  @Test("no retry is lost, however short its pause is", arguments: [Duration.zero, .microseconds(50)])
  func retries(pause: Duration) async throws {
    let attempts = Counter()
    let count = Self.isLong ? 20_000 : 300
    try await Self.many(count) { _ in
      let launch = try LaunchSequence(clock: ContinuousClock(), log: { _ in }) {
        Do { _ in
          attempts.increment()
          throw Broken()
        }.onFailure(.retry(2, after: pause)).onFailure(.skip)
      }
      let report = try await launch.launch()
      #expect(report.entries.map(\.attempts) == [3])
    }
    #expect(attempts.value == 3 * count)
  }

  @Test("each completed step is shut down once when a launch, foreground passes and a shutdown race")
  func race() async throws {
    try await Self.many(Self.isLong ? 20_000 : 200) { number in
      let (up, down, again) = (Counter(), Counter(), Counter())
      let launch = try LaunchSequence(
        cancellationGracePeriod: .patience, clock: ContinuousClock(), log: { _ in }
      ) {
        for step in 0..<3 {
          let isFirst = Counter()
          Do(wantsForeground: true, whenShutDown: { down.increment() }) { _ in
            if number % 3 == 0 { await Task.yield() }
            (isFirst.increment() == 1 ? up : again).increment()
          }.id("\(step)")
        }
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { do { try await launch.launch() } catch {} }
        for _ in 0..<3 {
          group.addTask {
            await launch.enterBackground()
            await launch.enterForeground()
          }
        }
        if number % 2 == 0 {
          group.addTask {
            for _ in 0..<number % 17 { await Task.yield() }
            await launch.shutDown(within: .patience)
          }
        }
      }
      let report = await launch.shutDown(within: .patience)
      #expect(down.value == up.value)
      #expect(report.entries.count == up.value)
      let after = again.value
      await launch.enterForeground()
      #expect(again.value == after)
    }
  }

  @Test("callers that are cancelled at random cancel the launch only with the last one")
  func cancellations() async throws {
    try await Self.many(Self.isLong ? 3_000 : 100) { number in
      let (up, down) = (Counter(), Counter())
      let launch = try LaunchSequence(
        cancellationGracePeriod: .patience, clock: ContinuousClock(), log: { _ in }
      ) {
        for step in 0..<4 {
          Do(whenShutDown: { down.increment() }) { _ in
            try await Task.sleep(for: .microseconds(200))
            up.increment()
          }.id("\(step)").after()
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for caller in 0..<6 {
          group.addTask {
            let task = Task { try await launch.launch() }
            if (caller + number) % 2 == 0 {
              for _ in 0..<(caller * number) % 7 { await Task.yield() }
              task.cancel()
            }
            _ = await task.result
          }
        }
      }
      await launch.shutDown(within: .patience)
      #expect(up.value == down.value)
    }
  }

  /// A service that fails, or runs until it is canceled, a few turns after it began.
  private struct Service: RunningInitializer {
    let turns: Int
    let fails: Bool
    /// The numbers of runs that began and that ended.
    let began: Counter
    let ended: Counter

    func run(_ configuration: any Configurable) async throws {
      began.increment()
      defer { ended.increment() }
      for _ in 0..<turns { await Task.yield() }
      if fails { throw Broken(number: turns) }
      let (stream, end) = AsyncStream<Never>.makeStream()
      defer { end.finish() }
      for await _ in stream {}
    }
  }

  /// The number of launches in the long mode; fewer for the thread sanitizer.
  private static let lives = ProcessInfo.processInfo.environment["LAUNCH_LIVES"].flatMap { Int($0) } ?? 200_000

  @Test("a service that fails at any instant around the end of the launch ends the sequence with its error")
  func serviceFailures() async throws {
    let (lost, count) = (Counter(), Self.isLong ? Self.lives : repetitions(debug: 500, release: 2_000))
    try await Self.many(count) { number in
      let (began, ended) = (Counter(), Counter())
      let launch = try LaunchSequence(clock: ContinuousClock(), log: { _ in }) {
        Works().id("works").after()
        Service(turns: number % 7, fails: true, began: began, ended: ended).id("fails").after()
        if number % 3 == 0 { Do { _ in for _ in 0..<number % 5 { await Task.yield() } }.id("slow").after() }
      }
      let code = await launch.run(on: [], shutDownWithin: .patience)
      let failure = launch.failure
      let isRight = code == 1 && failure?.code == .serviceFailed && failure?.id == "fails"
      if !isRight || failure?.underlying as? Broken != Broken(number: number % 7) || began.value != ended.value {
        lost.increment()
      }
    }
    #expect(lost.value == 0)
  }

  @Test("no service runs after a shutdown that came at any instant around its start")
  func shutDowns() async throws {
    let (left, count) = (Counter(), Self.isLong ? Self.lives : repetitions(debug: 500, release: 2_000))
    try await Self.many(count) { number in
      let (began, ended) = (Counter(), Counter())
      let launch = try LaunchSequence(clock: ContinuousClock(), log: { _ in }) {
        Service(turns: number % 5, fails: false, began: began, ended: ended).id("a").after()
        Service(turns: 0, fails: false, began: began, ended: ended).id("b").after().deferred()
      }
      async let launched: Void = {
        do { try await launch.launch() } catch {}
      }()
      for _ in 0..<number % 11 { await Task.yield() }
      await launch.shutDown(within: .patience)
      if began.value != ended.value { left.increment() }
      await launched
      if began.value != ended.value { left.increment() }
    }
    #expect(left.value == 0)
  }
}
