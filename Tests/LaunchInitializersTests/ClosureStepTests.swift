import LaunchInitializers
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

@Suite("Steps of closures", .timeLimit(.hang)) struct ClosureTests {
  @Test("what perform returns is handed to the other closures")
  func value() async throws {
    let journal = Journal()
    let launch = try LaunchSequence {
      LaunchStep("cache") { _ in
        7
      } shutDown: {
        journal.note("-\($0)")
      }
      LaunchStep("queue") { _ in
        "q"
      } run: { queue in
        journal.note("run \(queue)")
        try await untilCancelled(1)
      } shutDown: {
        journal.note("-\($0)")
      }.after("cache")
      LaunchStep("nothing") { _ in }
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.id) == ["cache", "queue", "nothing"])
    await launch.shutDown()
    #expect(journal.entries == ["run q", "-q", "-7"])
  }

  @Test("an error of a shutdown is reported, and the other steps are shut down")
  func shutDownFails() async throws {
    let (journal, lines, isLogged) = (Journal(), Journal(), AsyncLatch())
    let log: @Sendable (String) -> Void = { line in
      lines.note(line)
      if line.contains("failed") { isLogged.open() }
    }
    let launch = try LaunchSequence(log: log) {
      LaunchStep("first") { _ in
      } shutDown: {
        journal.note("-first")
      }
      LaunchStep("bad") { _ in
      } shutDown: {
        throw Broken(number: 2)
      }
    }
    let running = Task { await launch.run(on: []) }
    try await launch.launch()
    let report = await launch.shutDown()
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries[0].errors.first as? Broken == Broken(number: 2))
    #expect(await running.value == 1)
    await isLogged.wait()
    // On a busy machine, the log may also say that the launch waits for a step.
    #expect(
      lines.entries.filter { !$0.contains("still waiting") } == [
        "shutDown: began: shutDown() was called", "shutDown: bad failed: Broken(number: 2)",
      ])
    #expect(journal.entries == ["-first"])
  }
}
