/// The time since it was made, on whatever clock it was given.
package final class ElapsedClock: Sendable {
  private let elapsed: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  package convenience init(_ clock: any Clock<Duration>) { self.init(started: clock) }

  private init<Base: Clock>(started clock: Base) where Base.Duration == Duration {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// The clock of whoever was given none.
  static let continuous = ElapsedClock(ContinuousClock())

  package var now: Duration { elapsed() }

  package func sleep(until time: Duration) async throws { try await wait(time) }
}
