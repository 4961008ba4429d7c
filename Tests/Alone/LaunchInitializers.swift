// The launch of the README, and the types that it leaves to its reader.
import LaunchInitializers

struct Database: Sendable {
  init() async throws {}
  func close() async throws {}
}
struct Consumer: RunningInitializer {
  func run(_: any Configurable) async throws {}
}

let launch = try LaunchSequence {
  LaunchStep("database") { _ in try await Database() } shutDown: { try await $0.close() }
  Consumer().id("consumer").requires("database").onExit(.restart(max: 3, within: .seconds(60)))
}
exit(await launch.run(on: [.terminate, .interrupt]))
