import LaunchInitializers
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

@Suite("Immediate launches", .timeLimit(.hang)) @MainActor struct LaunchImmediatelyTests {
  let journal = Journal()

  struct Plain: Initializable {
    let name: String
    let journal: Journal
    func perform(with configuration: any Configurable) throws { journal.note(name) }
  }

  @MainActor final class OnMain: Initializable {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func perform(with configuration: any Configurable) async throws { journal.note("main") }
  }

  @Test("synchronous steps, and main-actor steps that don't suspend, have ended when the call returns")
  func synchronous() async throws {
    let launch = try LaunchSequence {
      Plain(name: "a", journal: journal)
      OnMain(journal)
      Plain(name: "b", journal: journal)
    }
    let task = launch.launchImmediately()
    #expect(journal.entries == ["a", "main", "b"])
    #expect(try await task.value.entries.map(\.outcome) == [.completed, .completed, .completed])
    try await launch.launch()
    _ = try await launch.launchImmediately().value
    #expect(journal.entries.count == 3)
  }

  @Test("steps of main-actor closures, and the steps that wait for them, have ended when the call returns", .registry)
  func closures() async throws {
    for _ in 0..<100 {
      let journal = Journal()
      let launch = try LaunchSequence {
        LaunchStep("window") { @MainActor _ in
          journal.note("window")
          return InitializerRegistry.current.register(.instance("window"))
        } shutDown: { registration in
          registration.unregister()
        }
        Plain(name: "after", journal: journal)
      }
      let task = launch.launchImmediately()
      #expect(journal.entries == ["window", "after"])
      #expect(try InitializerRegistry.current.resolve(String.self) == "window")
      _ = try await task.value
      await launch.shutDown()
      #expect(try InitializerRegistry.current.resolve(String?.self) == nil)
    }
  }

  @Test("the call doesn't wait for steps that suspend, and later steps follow them")
  func waiting() async throws {
    let gate = AsyncLatch()
    let launch = try LaunchSequence {
      Plain(name: "first", journal: journal).id("first")
      Do { _ in await gate.wait() }.id("slow").after("first")
      Plain(name: "beside", journal: journal).id("beside").after("first")
      Plain(name: "after", journal: journal).after("slow")
    }
    let task = launch.launchImmediately()
    #expect(journal.entries == ["first", "beside"])
    gate.open()
    _ = try await task.value
    #expect(journal.entries == ["first", "beside", "after"])
  }

  @Test("steps that begin after the call respect the maximum number")
  func widthAfterwards() async throws {
    let gate = AsyncLatch()
    let launch = try LaunchSequence(maxConcurrentSteps: 1) {
      Do { _ in await gate.wait() }.id("0").after()
      Do { _ in await gate.wait() }.id("1").after()
      Do { _ in for _ in 0..<100 { await Task.yield() } }.id("late").after("0")
      Do { _ in }.id("last").after("0")
    }
    let task = launch.launchImmediately()
    gate.open()
    let report = try await task.value
    let (late, last) = (try #require(report.entry("late")), try #require(report.entry("last")))
    #expect(report.entries.prefix(2).allSatisfy { $0.end <= late.start })
    #expect(last.start >= late.end)
  }

  @Test("ten thousand synchronous steps run without recursion")
  func many() async throws {
    let launch = try LaunchSequence {
      for number in 0..<10_000 { Plain(name: "", journal: journal).id("\(number)") }
    }
    let task = launch.launchImmediately()
    #expect(journal.entries.count == 10_000)
    _ = try await task.value
  }

  @Test("a failing step aborts an immediate launch, and completed steps are shut down")
  func failure() async throws {
    let launch = try LaunchSequence {
      note("a", journal)
      Do { _ in throw Broken() }.id("bad")
    }
    let task = launch.launchImmediately()
    let error = try await #require(throws: LaunchError.self) { try await task.value }
    #expect(error.id == "bad")
    #expect(journal.entries == ["a", "-a"])
  }

  @Test("a step that calls launchImmediately() gets an error")
  func reentry() async throws {
    let box = Box<LaunchSequence>()
    let launch = try LaunchSequence {
      Do { _ in
        let task = await box.value.withLock { $0 }?.launchImmediately()
        _ = try await task?.value
      }
    }
    box.value.withLock { $0 = launch }
    let error = try await #require(throws: LaunchError.self) { try await launch.launchImmediately().value }
    #expect((error.underlying as? LaunchError)?.code == .reentered)
  }
}
