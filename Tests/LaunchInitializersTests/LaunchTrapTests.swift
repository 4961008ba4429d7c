import LaunchInitializers
import TestSupport
import Testing

#if os(macOS) || os(Linux)
  @Suite("Preconditions", .timeLimit(.hang)) struct LaunchTrapTests {
    private static func message(_ result: ExitTest.Result?) -> String {
      text(result?.standardErrorContent)
    }

    @Test("a maximum of zero concurrent steps stops the program")
    func maxConcurrentSteps() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = try LaunchSequence(configuration: NoConfiguration(), maxConcurrentSteps: 0) { Do { _ in } }
      }
      #expect(Self.message(result).contains("A launch can't run 0 steps at once."))
    }

    @Test("a timeout of zero stops the program")
    func timeout() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Do { _ in }.timeout(.zero)
      }
      #expect(Self.message(result).contains("Do can't be done in 0.0 seconds."))
    }

    @Test("zero retries and a negative pause stop the program")
    func retries() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Do { _ in }.onFailure(.retry(0, after: .zero))
      }
      #expect(Self.message(result).contains("A step can't be retried 0 times."))
      let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Do { _ in }.onFailure(.retry(1, after: .seconds(-1)))
      }
      #expect(Self.message(other).contains("A step can't be retried after -1.0 seconds."))
    }

    @Test("a negative grace period stops the program")
    func gracePeriod() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = try LaunchSequence(configuration: NoConfiguration(), cancellationGracePeriod: .seconds(-1)) { Do { _ in } }
      }
      #expect(Self.message(result).contains("A cancelled step can't have -1.0 seconds to end."))
    }

    @Test("a negative limit of a shutdown stops the program")
    func limit() async {
      let message = "A sequence can't shut down in -1.0 seconds. Use a limit of zero or more."
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await (try LaunchSequence(configuration: NoConfiguration()) { Do { _ in } }).shutDown(within: .seconds(-1))
      }
      #expect(Self.message(result).contains(message))
      let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await (try LaunchSequence(configuration: NoConfiguration()) { Do { _ in throw Broken() } })
          .run(on: [], shutDownWithin: .seconds(-1))
      }
      #expect(Self.message(other).contains(message))
    }
  }
#endif
