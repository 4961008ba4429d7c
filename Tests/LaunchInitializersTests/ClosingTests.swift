@testable import LaunchInitializers
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

@Suite("Closing of services", .registry, .timeLimit(.hang)) struct ClosingTests {
  final class Pool: Sendable {
    let name: String
    private let count = Counter()
    init(_ name: String) { self.name = name }
    var closings: Int { count.value }
    func close() { _ = count.increment() }
  }

  /// The pools that steps made, in order.
  final class Pools: Sendable {
    private let list = Mutex<[Pool]>([])
    func make(_ name: String) -> Pool {
      let pool = Pool(name)
      list.withLock { $0.append(pool) }
      return pool
    }
    var closings: [String] { list.withLock { $0.map { "\($0.name) \($0.closings)" } } }
  }

  struct MakePool: ServiceInitializer {
    let name: String
    let pools: Pools
    var again = false
    var before: @Sendable () async throws -> Void = {}
    var whenClosed: @Sendable () async throws -> Void = {}
    func makeService(with configuration: any Configurable) async throws -> Pool {
      try await before()
      return pools.make(name)
    }
    func shouldPerformWhenApplicationEntersForeground() async -> Bool { again }
    func shutDown(_ pool: Pool) async throws {
      pool.close()
      try await whenClosed()
    }
  }

  let pools = Pools()
  private func current() -> String? { (try? InitializerRegistry.current.resolve(Pool?.self))??.name }

  @Test("two concurrent steps that make services of one type each close their own, which they can also resolve")
  func own() async throws {
    let journal = Journal()
    let note: @Sendable () throws -> Void = {
      journal.note(try InitializerRegistry.current.resolve(Pool.self).name)
    }
    let launch = try LaunchSequence {
      MakePool(name: "a", pools: pools, whenClosed: note).id("a").after()
      MakePool(name: "b", pools: pools, whenClosed: note).id("b").after()
    }
    try await launch.launch()
    let report = await launch.shutDown()
    #expect(report.entries.map(\.outcome) == [.completed, .completed])
    #expect(pools.closings.sorted() == ["a 1", "b 1"])
    #expect(journal.entries.sorted() == ["a", "b"])
  }

  @Test("the service of an abandoned attempt is closed when the attempt ends, and another step's isn't")
  func late() async throws {
    let (clock, gate, isClosed) = (TestClock(), Gate(), AsyncLatch())
    let launch = try LaunchSequence(clock: clock, log: { _ in }) {
      MakePool(name: "late", pools: pools, before: { await gate.pass() }, whenClosed: { isClosed.open() }).id("late")
        .timeout(.seconds(5)).onFailure(.skip)
      MakePool(name: "other", pools: pools).id("other")
    }
    let launched = Task { try await launch.launch() }
    await gate.waitForArrival()
    await clock.advance(through: .seconds(5), .seconds(6))
    _ = try await launched.value
    #expect(current() == "other")
    gate.open()
    await isClosed.wait()
    #expect(current() == "other")
    #expect(pools.closings == ["other 0", "late 1"])
    await launch.shutDown()
    #expect(pools.closings == ["other 1", "late 1"])
  }

  @Test("a service that a repetition has replaced is closed while the program goes on")
  func replaced() async throws {
    let closed = AsyncLatch()
    let launch = try LaunchSequence {
      MakePool(name: "a", pools: pools, again: true, whenClosed: { closed.open() }).id("a")
    }
    try await launch.launch()
    await launch.enterBackground()
    await launch.enterForeground()
    await closed.wait()
    #expect(pools.closings == ["a 1", "a 0"])
    await launch.shutDown()
    #expect(pools.closings == ["a 1", "a 1"])
  }

  @Test("the services of an attempt that fails or is skipped are closed", arguments: [false, true])
  func unused(isSkipped: Bool) async throws {
    let pools = pools
    let launch = try LaunchSequence(log: { _ in }) {
      Do { configuration in
        try await MakePool(name: "a", pools: pools).perform(with: configuration)
        try await MakePool(name: "b", pools: pools).perform(with: configuration)
        if isSkipped { throw SkipInitializer("nothing") }
        throw Broken()
      }.onFailure(.skip)
    }
    try await launch.launch()
    await launch.shutDown()
    #expect(pools.closings == ["a 1", "b 1"])
    #expect(current() == nil)
  }

  @Test("an error of each service that is closed is reported, and all of them are closed")
  func errors() async throws {
    let pools = pools
    let launch = try LaunchSequence(log: { _ in }) {
      Do { configuration in
        for number in 1...2 {
          let step = MakePool(name: "\(number)", pools: pools, whenClosed: { throw Broken(number: number) })
          try await step.perform(with: configuration)
        }
      }.id("both")
    }
    try await launch.launch()
    let report = await launch.shutDown()
    #expect(report.entry("both")?.errors.compactMap { $0 as? Broken } == [Broken(number: 2), Broken(number: 1)])
    #expect(pools.closings == ["1 1", "2 1"])
  }

  @MainActor final class Window: ServiceInitializer {
    var closed: [String] = []
    func makeService(with configuration: any Configurable) async throws -> Pool { Pool("window") }
    func shutDown(_ pool: Pool) { closed.append(pool.name) }
  }

  @Test("a step of the main actor closes its service there")
  @MainActor func mainActor() async throws {
    let window = Window()
    let launch = try LaunchSequence { window }
    try await launch.launch()
    await launch.shutDown()
    #expect(window.closed == ["window"])
  }

  @Test("a declared key gives a step's service while the step is up, and the step closes it")
  func key() async throws {
    let launch = try LaunchSequence {
      MakeKeyed(pools: pools, name: "main").provides(.mainPool).id("main")
      MakeKeyed(pools: pools, name: "replica").provides(.replicaPool).id("replica")
    }
    func names() throws -> [String] {
      [try InitializerRegistry.current.resolve(.mainPool), try InitializerRegistry.current.resolve(.replicaPool)]
        .map(\.name)
    }
    #expect(try names() == ["none", "none"])
    try await launch.launch()
    #expect(try names() == ["main", "replica"])
    #expect(current() == nil)
    await launch.shutDown()
    #expect(try names() == ["none", "none"])
    #expect(pools.closings == ["main 1", "replica 1"])
  }

  @Test("what a step's service hides serves the steps before it again, and the program after the shutdown")
  func hidden() async throws {
    let journal = Journal()
    let note: @Sendable () -> Void = {
      journal.note((try? InitializerRegistry.current.resolve(Pool.self))?.name ?? "none")
    }
    let registry = InitializerRegistry.current
    registry.register(Pool.self, scope: .singleton) { Pool("program") }
    let program = try registry.resolve(Pool.self)
    let launch = try LaunchSequence {
      Do(whenShutDown: note) { _ in note() }.id("before")
      MakePool(name: "step", pools: pools).id("pool")
      Do(whenShutDown: note) { _ in note() }.id("after")
    }
    try await launch.launch()
    await launch.shutDown()
    #expect(journal.entries == ["program", "step", "step", "program"])
    #expect(try registry.resolve(Pool.self) === program)
  }

  @Test("what a step's service hid serves again after an aborted launch")
  func hiddenByAbortedLaunch() async throws {
    InitializerRegistry.current.register(Pool.self) { Pool("program") }
    let launch = try LaunchSequence(log: { _ in }) {
      MakePool(name: "step", pools: pools)
      Do { _ in throw Broken() }
    }
    await #expect(throws: LaunchError.self) { try await launch.launch() }
    #expect(current() == "program")
  }

  @Test("two sequences that hide each other's services leave in any order", arguments: [false, true])
  func twoSequences(isFirstDownFirst: Bool) async throws {
    InitializerRegistry.current.register(Pool.self) { Pool("program") }
    let first = try LaunchSequence { MakePool(name: "first", pools: pools) }
    let second = try LaunchSequence { MakePool(name: "second", pools: pools) }
    try await first.launch()
    try await second.launch()
    #expect(current() == "second")
    await (isFirstDownFirst ? first : second).shutDown()
    #expect(current() == (isFirstDownFirst ? "second" : "first"))
    await (isFirstDownFirst ? second : first).shutDown()
    #expect(current() == "program")
    #expect(pools.closings == ["first 1", "second 1"])
  }

  struct MakeKeyed: ServiceInitializer {
    let pools: Pools
    let name: String
    func makeService(with configuration: any Configurable) async throws -> Pool { pools.make(name) }
    func shutDown(_ pool: Pool) { pool.close() }
  }
}

extension InjectionKeys {
  fileprivate static let mainPool = InjectionKey<ClosingTests.Pool> { ClosingTests.Pool("none") }
    .test { ClosingTests.Pool("none") }
  fileprivate static let replicaPool = InjectionKey<ClosingTests.Pool> { ClosingTests.Pool("none") }
    .test { ClosingTests.Pool("none") }
}
