internal import Support

/// An event in the life of a sequence, for logs, metrics, traces, and progress.
///
/// ```swift
/// Task {
///   for await event in launch.events { logger.info("\(event)") }
/// }
/// ```
public struct LaunchEvent: Sendable, Hashable {
  /// The phases of a sequence's life.
  public enum Phase: String, Sendable, Hashable, CustomStringConvertible {
    /// The steps run for the first time.
    case launch
    /// Steps run again because the app came back to the foreground.
    case foreground
    /// The deferred steps run, after the launch.
    case deferred
    /// A lazy step runs because its service is resolved.
    case lazy
    /// Services run, from the launch to the shut-down. Times are since the launch began.
    case running
    /// The completed steps are shut down, at the end or after a failed launch.
    case shutDown

    /// The name of the case.
    public var description: String { rawValue }
  }

  /// The kinds of events.
  ///
  /// More may be added, so a `switch` over them needs a `default`.
  public enum Kind: Sendable, Hashable {
    /// The phase began.
    case phaseBegan
    /// The phase ended, after the events of all steps.
    case phaseEnded
    /// An attempt of the step began.
    case began(attempt: Int)
    /// An attempt failed, and the next one begins after a pause.
    case retrying(after: Duration)
    /// The step ended.
    case ended(LaunchReport.Outcome)
    /// The step's service began a run, the first or a later one.
    case serviceBegan(run: Int)
    /// The step's service ended, and is restarted after a pause.
    case serviceRestarting(after: Duration)
    /// The step's service ended for good. There is a message if it ended by itself.
    case serviceEnded
    /// Nothing has happened for ten seconds, while these steps were under way.
    case waiting(for: [String])
  }

  /// The kind of event.
  public let kind: Kind
  /// The phase in which the event happened.
  public let phase: Phase
  /// The id of the step; nil if the event is about the whole phase.
  public let id: String?
  /// The time of the event, since the phase began.
  public let time: Duration
  /// Why the step failed, was skipped or is retried, or another note; nil if there is none.
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
      case .ended(let outcome): "\(outcome)"
      case .serviceBegan(let run): run == 1 ? "runs" : "runs again"
      case .serviceRestarting(let pause): "ended, runs again in \(pause.text)"
      case .serviceEnded: "ended"
      case .waiting(let ids): "still waiting for \(ids.joined(separator: ", "))"
      }
    return ([phase.rawValue] + [[id, what].compactMap(\.self).joined(separator: " "), message].compactMap(\.self))
      .joined(separator: ": ").escaped
  }
}

extension LaunchSequence {
  /// A stream of the events from now on, as they happen.
  ///
  /// Each access returns a new stream, so get one before the launch to receive all events. An event comes after the events
  /// that caused it. The stream buffers events until they are read, and ends when the sequence has been shut down or its
  /// launch has failed. While there is a stream, a launch that hangs reports every ten seconds which steps it waits for.
  public var events: AsyncStream<LaunchEvent> { hub.stream() }
}

/// The streams of a sequence's events.
final class EventHub: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<LaunchEvent>.Continuation] = [:]
    var lastID = 0
    var hasEnded = false
  }
  private let state = Lock(State())

  /// Whether there is a stream; if not, no event has to be created.
  var hasStreams: Bool { state.withLock { !$0.streams.isEmpty } }

  func stream() -> AsyncStream<LaunchEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: LaunchEvent.self)
    let id = state.withLock { state -> Int? in
      if state.hasEnded { return nil }
      state.lastID += 1
      state.streams[state.lastID] = continuation
      return state.lastID
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [self] _ in
      _ = state.withLock { $0.streams.removeValue(forKey: id) }
    }
    return stream
  }

  func send(_ event: LaunchEvent) {
    for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
  }

  func end() {
    let streams = state.withLock { state in
      state.hasEnded = true
      return Array(state.streams.values)
    }
    for stream in streams { stream.finish() }
  }
}
