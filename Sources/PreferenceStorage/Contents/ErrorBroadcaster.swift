import Support

/// Tells the readers of a store's `errors` of those that no caller could be thrown.
final class ErrorBroadcaster: Sendable {
  private struct Listeners: Sendable {
    var continuations: [Int: AsyncStream<PreferenceError>.Continuation] = [:]
    var next = 0
  }

  private let listeners = Lock(Listeners())

  /// A stream of its own for each call; a reader who is more than 64 behind misses the oldest.
  func stream() -> AsyncStream<PreferenceError> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PreferenceError.self, bufferingPolicy: .bufferingNewest(64))
    let number = listeners.withLock { listeners in
      listeners.next += 1
      listeners.continuations[listeners.next] = continuation
      return listeners.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.listeners.withLock { $0.continuations[number] = nil }
    }
    return stream
  }

  func report(_ error: PreferenceError) {
    for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield(error) }
  }
}
