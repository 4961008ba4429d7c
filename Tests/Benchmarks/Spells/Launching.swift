import Benchmark
import LaunchInitializers
import Spellbook

private struct NoConfiguration: Configurable {
  var serviceStorage: ServiceStorage = [:]
  func currentStage() -> ReleaseStage { .production }
  static func defaultConfiguration() -> NoConfiguration { NoConfiguration() }
}

private struct Nothing: Initializable {
  func perform(with configuration: any Configurable) async throws {}
}

func compareLaunching() {
  compareLaunch("in a row") { Nothing().id("step \($0)") }
  compareLaunch("side by side") { Nothing().id("step \($0)").after() }
}

private func compareLaunch(_ order: String, step: @escaping @Sendable (Int) -> LaunchStep) {
  Comparison(what: "Launch 1,000 steps \(order)", baseline: "a task group", goal: .ratio(2), times: 1).add {
    let steps = (0..<1_000).map(step)
    let configuration = NoConfiguration()
    return { meter async throws in
      let sequence = try LaunchSequence(configuration: configuration) { steps }
      meter.benchmark.startMeasurement()
      try await sequence.launch()
      meter.benchmark.stopMeasurement()
    }
  } baseline: {
    { meter async in
      meter.benchmark.startMeasurement()
      await withTaskGroup { group in
        for _ in 0..<1_000 { group.addTask {} }
      }
      meter.benchmark.stopMeasurement()
    }
  }
}
