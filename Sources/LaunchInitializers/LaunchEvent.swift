internal import Support

/// An event in the life of a sequence, for logs, metrics, traces, and progress; see ``LaunchSequence/events``.
public struct LaunchEvent: Sendable, Hashable {
  /// A phase of a sequence's life.
  public enum Phase: String, Sendable, Hashable {
    /// The steps run at launch, or again because the app came back to the foreground.
    case launch, foreground
    /// The deferred steps run, after the launch.
    case deferred
    /// Services run, from the launch to the shutdown.
    case running
    /// The completed steps are being shut down, for example because the program ends or the launch has failed.
    case shutDown
  }

  /// A kind of event.
  ///
  /// More kinds may be added, so a `switch` over a kind needs a `default`.
  public enum Kind: Sendable, Hashable {
    /// The phase began, or the phase ended; the end comes after the events of the phase's steps.
    case phaseBegan, phaseEnded
    /// An attempt of the step began.
    case began(attempt: Int)
    /// An attempt failed, and the next attempt begins after the given pause.
    case retrying(after: Duration)
    /// The step ended with the given outcome.
    ///
    /// When the app returns to the foreground, a step that doesn't ask to be repeated ends as `.skipped`. If an attempt
    /// that was abandoned fails later, another event with the outcome `.failed` follows.
    case ended(LaunchReport.Outcome)
    /// The step's service began a run, or became ready; the first run has the number 1.
    case serviceBegan(run: Int), serviceReady
    /// The step's service ended, and is restarted after the given pause.
    case serviceRestarting(after: Duration)
    /// The step's service ended and won't run again.
    ///
    /// The event has a message if the service failed, was abandoned, or returned when its exit policy didn't permit it.
    case serviceEnded
    /// A signal arrived, and the shutdown begins after the given pause.
    case draining(Duration)
    /// No step has begun or ended for ten seconds, while the steps with the given IDs were under way.
    case waiting(for: [String])
  }

  /// The kind of event, such as the beginning of an attempt.
  public let kind: Kind
  /// The phase in which the event happened.
  public let phase: Phase
  /// The ID of the step; nil if the event is about the whole phase.
  public let id: String?
  /// The time of the event since the phase began.
  ///
  /// For deferred steps and services, this is the time since the launch began.
  public let time: Duration
  /// The reason for a failure, a skipped step, a retry or a shutdown, or another note; nil if there is none.
  public let message: String?
}

extension LaunchEvent: CustomStringConvertible {
  /// The event as a line for a log, such as `launch: database completed`; control characters are escaped.
  public var description: String {
    let what =
      switch kind {
      case .phaseBegan: "began"
      case .phaseEnded: "ended after \(time.text)"
      case .began(let attempt): attempt == 1 ? "began" : "began, attempt \(attempt)"
      case .retrying(let pause): "failed, next attempt in \(pause.text)"
      case .ended(.notRun): "did not run"
      case .ended(let outcome): outcome.rawValue
      case .serviceBegan(let run): run == 1 ? "runs" : "runs again"
      case .serviceReady: "is ready"
      case .serviceRestarting(let pause): "ended, runs again in \(pause.text)"
      case .serviceEnded: "ended"
      case .draining(let pause): "not ready anymore, shuts down in \(pause.text)"
      case .waiting(let ids): "still waiting for \(ids.joined(separator: ", "))"
      }
    return ([phase.rawValue] + [[id, what].compactMap(\.self).joined(separator: " "), message].compactMap(\.self))
      .joined(separator: ": ").escaped
  }

  /// Returns whether the log gets a line about an event.
  ///
  /// The log has lines about failed steps, services that failed or restart, the beginning of the shutdown, steps that
  /// the shutdown didn't reach within its time limit, the pause before the shutdown (`.draining`), and long waits.
  static func isLogged(_ kind: Kind, _ phase: Phase, _ message: String?) -> Bool {
    switch kind {
    case .phaseBegan: phase == .shutDown
    case .ended(let outcome): outcome == .failed || outcome == .notRun && phase == .shutDown
    case .serviceRestarting, .draining, .waiting: true
    case .serviceEnded: message != nil
    case .phaseEnded, .began, .retrying, .serviceBegan, .serviceReady: false
    }
  }
}
