// The launch of the README, and the types that it leaves to its reader.
import LaunchInitializers

struct Connection: Sendable {}
struct Database: ServiceInitializer {
  let url: String
  func makeService(with _: any Configurable) async throws -> Connection { Connection() }
  func shutDown(_: Connection) async throws {}
}
struct Consumer: RunningInitializer {
  func run(_: any Configurable) async throws {}
}

let url = "db.example.com"
let launch = try LaunchSequence {
  Database(url: url).id("database").timeout(.seconds(5))
  Consumer().id("consumer").requires("database").onExit(.restart(max: 3, within: .seconds(60)))
}
exit(await launch.run(on: [.terminate, .interrupt]))
