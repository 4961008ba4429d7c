import Foundation
import LaunchInitializers
import LinkCore
import LinkServer
import Logging
import Metrics
import SpellRegistry

/// Launches the service, and shuts it down at SIGTERM or SIGINT.
@main struct Main {
  static func main() async {
    let variables = ProcessInfo.processInfo.environment
    do {
      let configuration = try LinkServer.configuration(
        file: variables["LINKS_CONFIGURATION"] ?? "links.json",
        stage: ReleaseStage(rawValue: variables["LINKS_STAGE"] ?? "development"))
      let metrics = TextMetrics()
      MetricsSystem.bootstrap(metrics)
      var logger = Logger(label: "links")
      logger.logLevel = try configuration.requiredValue(for: "Log", key: "Level", as: Logger.Level.self)
      LinkServer.registerServices(in: .shared, logger: logger, metrics: metrics)
      let launch = try LinkServer.launchSequence(configuration)
      let events = launch.events
      let log = Task { [logger] in
        for await event in events { logger.notice("\(event)") }
      }
      let code = try await launch.run(on: [.terminate, .interrupt])
      await log.value
      exit(code)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}
