/// The time since a run began, on the clock that the sequence was given.
struct LaunchClock: Sendable {
  private let elapsed: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  init(_ clock: any Clock<Duration>) { self = LaunchClock.started(clock) }

  private init(
    elapsed: @escaping @Sendable () -> Duration, wait: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.elapsed = elapsed
    self.wait = wait
  }

  private static func started<Base: Clock>(_ clock: Base) -> LaunchClock where Base.Duration == Duration {
    let start = clock.now
    return LaunchClock(
      elapsed: { start.duration(to: clock.now) },
      wait: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) })
  }

  var now: Duration { elapsed() }

  /// A task that calls `body` at that time, unless it is cancelled before.
  func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task { [wait] in
      do {
        try await wait(time)
      } catch {
        // A clock that won't wait is better taken as one whose time has come than as one that never comes.
        if Task.isCancelled { return }
      }
      body()
    }
  }
}
