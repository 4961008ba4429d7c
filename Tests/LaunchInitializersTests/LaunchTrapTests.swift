import LaunchInitializers
import TestSupport
import Testing

#if os(macOS) || os(Linux)
  @Suite("Preconditions", .timeLimit(.hang)) struct LaunchTrapTests {
    /// A number that makes no sense, and the sentence that says so.
    enum Mistake: Codable, CaseIterable {
      case noConcurrentSteps, noTime, noRetries, negativePause, negativeGracePeriod, negativeLimit, negativeLimitOfRun

      var sentence: String {
        switch self {
        case .noConcurrentSteps: "A launch can't run 0 steps at once."
        case .noTime: "Do can't be done in 0.0 seconds."
        case .noRetries: "A step can't be retried 0 times."
        case .negativePause: "A step can't be retried after -1.0 seconds."
        case .negativeGracePeriod: "A cancelled step can't have -1.0 seconds to end."
        case .negativeLimit, .negativeLimitOfRun:
          "A sequence can't shut down in -1.0 seconds. Use a limit of zero or more."
        }
      }

      func make() async throws {
        switch self {
        case .noConcurrentSteps:
          _ = try LaunchSequence(configuration: NoConfiguration(), maxConcurrentSteps: 0) { Do { _ in } }
        case .noTime: _ = Do { _ in }.timeout(.zero)
        case .noRetries: _ = Do { _ in }.onFailure(.retry(0, after: .zero))
        case .negativePause: _ = Do { _ in }.onFailure(.retry(1, after: .seconds(-1)))
        case .negativeGracePeriod:
          _ = try LaunchSequence(configuration: NoConfiguration(), cancellationGracePeriod: .seconds(-1)) {
            Do { _ in }
          }
        case .negativeLimit:
          await (try LaunchSequence(configuration: NoConfiguration()) { Do { _ in } }).shutDown(within: .seconds(-1))
        case .negativeLimitOfRun:
          await (try LaunchSequence(configuration: NoConfiguration()) { Do { _ in throw Broken() } })
            .run(on: [], shutDownWithin: .seconds(-1))
        }
      }
    }

    @Test("a number that makes no sense stops the program with a sentence", arguments: Mistake.allCases)
    func stops(mistake: Mistake) async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        [mistake = mistake as Mistake] in try await mistake.make()
      }
      let message = text(result?.standardErrorContent)
      #expect(message.contains(mistake.sentence))
    }
  }
#endif
