#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
import Synchronization

/// A counter that limits each user's requests per minute.
public final class RateLimiter: Sendable {
  private struct State {
    var minute = 0
    var counts: [String: Int] = [:]
  }

  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  /// Creates a limiter that gets the time from a closure.
  public init(now: @escaping @Sendable () -> Date) { self.now = now }

  /// Counts a user's request.
  ///
  /// - Returns: The seconds until the user may try again, or nil if the request is within the limit.
  public func secondsToWait(_ user: User, limit: Int) -> Int? {
    let second = Int(now().timeIntervalSince1970)
    return state.withLock { state in
      if state.minute != second / 60 { state = State(minute: second / 60) }
      state.counts[user.name, default: 0] += 1
      return state.counts[user.name, default: 0] > limit ? 60 - second % 60 : nil
    }
  }
}
