internal import Support

/// Something that happens in a sequence, as it happens: for logs, metrics, traces, and a progress line.
///
/// ```swift
/// Task {
///   for await event in launch.events { logger.info("\(event)") }
/// }
/// ```
public struct LaunchEvent: Sendable, Hashable {
  /// The parts of a sequence's life.
  public enum Phase: String, Sendable, Hashable, CustomStringConvertible {
    /// The steps run for the first time.
    case launch
    /// The steps that want to run again do so.
    case foreground
    /// The deferred steps run, after the launch.
    case deferred
    /// Services run, between the launch and the shut-down. Times are since the launch began.
    case running
    /// The completed steps are shut down, at the end or because the launch failed.
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
    /// The phase ended; every step's event has come before.
    case phaseEnded
    /// An attempt of the step began.
    case began(attempt: Int)
    /// An attempt failed, and the next one begins after a pause.
    case retrying(after: Duration)
    /// The step ended.
    case ended(LaunchReport.Outcome)
    /// The step's service began to run, for the first time or again.
    case serviceBegan(run: Int)
    /// The step's service ended, and begins again after a pause.
    case serviceRestarting(after: Duration)
    /// The step's service ended; with a message if it ended by itself.
    case serviceEnded
    /// Nothing has happened for ten seconds, in which these steps were under way.
    case waiting(for: [String])
  }

  /// What happened.
  public let kind: Kind
  /// The part of the sequence's life in which it happened.
  public let phase: Phase
  /// The id of the step that it is about; nil if it is about the whole phase.
  public let id: String?
  /// When it happened, since the phase began.
  public let time: Duration
  /// Why the step failed, was skipped or is retried; nil if there is nothing to say.
  public let message: String?
}

extension LaunchEvent: CustomStringConvertible {
  /// The event as one line of a log, such as `launch: database completed`; control characters are escaped.
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
  /// What happens from now on, as it happens.
  ///
  /// Each call returns a stream of its own, so ask before the launch to hear all of it. An event comes after those of
  /// what caused it. The stream keeps events until they are read, and ends when the sequence has been shut down. While
  /// a stream is read, a launch that hangs says every ten seconds which steps it waits for.
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

  /// Whether there is a stream: if not, no event needs to be created.
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
