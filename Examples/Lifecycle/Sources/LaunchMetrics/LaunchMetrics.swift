public import LaunchInitializers
public import Metrics
import StepTimes

extension AsyncStream<LaunchEvent> {
  /// Records step durations, retries, and service restarts as metrics, until the launch sequence has ended.
  ///
  /// The timer `launch_step_duration_seconds` has the dimensions `phase`, `step` and `outcome`. The counters
  /// `launch_retries_total` and `launch_service_restarts_total` have the dimension `step`. Get the stream before the
  /// launch.
  public func record(in factory: any MetricsFactory = MetricsSystem.factory) async {
    var times = StepTimes()
    for await event in self {
      let duration = times.duration(endingWith: event) ?? .zero
      guard let id = event.id else { continue }
      switch event.kind {
      case .ended(let outcome):
        let dimensions = [("phase", event.phase.rawValue), ("step", id), ("outcome", outcome.rawValue)]
        Timer(label: "launch_step_duration_seconds", dimensions: dimensions, factory: factory)
          .recordNanoseconds(Int64(duration / .nanoseconds(1)))
      case .retrying: Counter(label: "launch_retries_total", dimensions: [("step", id)], factory: factory).increment()
      case .serviceRestarting:
        Counter(label: "launch_service_restarts_total", dimensions: [("step", id)], factory: factory).increment()
      default: break
      }
    }
  }
}
