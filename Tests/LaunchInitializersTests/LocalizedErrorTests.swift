import Foundation
import LaunchInitializers
import TestSupport
import Testing

@Suite("The localized description of an error", .timeLimit(.hang))
struct LocalizedErrorTests {
  @Test("of a launch, a plan, a configuration and a skipped step is its description")
  func descriptions() async throws {
    let launch = try LaunchSequence(log: { _ in }) {
      LaunchStep("cache") { _ in throw SkipInitializer("no folder") }.requires("data")
      LaunchStep("data") { _ in throw CancellationError() }
    }
    let failure = try await #require(throws: LaunchError.self) { try await launch.launch() }
    let plan = try #require(throws: LaunchPlanError.self) {
      try LaunchSequence { LaunchStep("data") { _ in }.after("dota") }
    }
    let configuration = try #require(throws: ConfigurationError.self) {
      try NoConfiguration().requiredValue(for: "Crash", key: "Key")
    }
    let errors: [any Error] = [failure, plan, configuration, SkipInitializer("no folder")]
    for error in errors { #expect(error.localizedDescription == "\(error)") }
    #expect(SkipInitializer("no folder").localizedDescription == "no folder")
    #expect(configuration.localizedDescription.hasPrefix("Crash.Key: no value in stage"))
  }
}
