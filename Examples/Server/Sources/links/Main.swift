import Foundation
import LaunchInitializers
import LaunchLogging
import LaunchMetrics
import LinkCore
import LinkServer
import Logging
import Metrics
import SpellRegistry

/// The program, which launches the service and shuts it down at SIGTERM or SIGINT.
@main struct Main {
  static func main() async {
    let variables = ProcessInfo.processInfo.environment
    do {
      let configuration = try await LinkConfiguration(file: variables["LINKS_CONFIGURATION"] ?? "links.json")
      let metrics = TextMetrics()
      MetricsSystem.bootstrap(metrics)
      var logger = Logger(label: "links")
      logger.logLevel = try configuration.requiredValue(for: "Log", key: "Level", as: Logger.Level.self)
      LinkServer.registerServices(in: .shared, logger: logger, metrics: metrics)
      let launch = try LinkServer.launchSequence(configuration)
      let log = Task { [events = launch.events, logger] in
        await events.log(to: logger)
      }
      let record = Task { [events = launch.events] in await events.record() }
      // The seconds that a load balancer has to notice that the server isn't ready anymore.
      let drain = try configuration.value(for: "Server", key: "Drain", as: Int.self) ?? 0
      let code = await launch.run(on: [.terminate, .interrupt], drain: .seconds(drain))
      await log.value
      await record.value
      exit(code)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}
