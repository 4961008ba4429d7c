public import LaunchInitializers
public import Logging
import StepTimes

extension AsyncStream<LaunchEvent> {
  /// Writes each event to a logger, until the launch sequence has ended.
  ///
  /// The metadata of a message has the phase, the step, the step's outcome, and its duration in seconds. Get the stream
  /// before the launch:
  ///
  /// ```swift
  /// let log = Task { [events = launch.events] in await events.log(to: logger) }
  /// let code = await launch.run(on: [.terminate, .interrupt])
  /// await log.value
  /// ```
  public func log(to logger: Logger) async {
    var times = StepTimes()
    for await event in self {
      var metadata: Logger.Metadata = ["phase": "\(event.phase.rawValue)"]
      metadata["step"] = event.id.map { "\($0)" }
      if case .ended(let outcome) = event.kind { metadata["outcome"] = "\(outcome.rawValue)" }
      metadata["duration"] = times.duration(endingWith: event).map { "\($0 / .seconds(1))" }
      logger.log(level: level(of: event), "\(event)", metadata: metadata)
    }
  }

  private func level(of event: LaunchEvent) -> Logger.Level {
    switch event.kind {
    case .ended(.failed): .error
    // A step that isn't shut down in time, which can be the only reason for the exit code 1.
    case .ended(.notRun) where event.phase == .shutDown: .error
    case .serviceEnded: event.message == nil ? .info : .error
    case .retrying, .serviceRestarting, .waiting: .warning
    case .phaseBegan, .phaseEnded, .draining: .notice
    default: .info
    }
  }
}
