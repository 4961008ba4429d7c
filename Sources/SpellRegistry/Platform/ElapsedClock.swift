/// The time since it was made, on whatever clock it was given.
final class ElapsedClock: Sendable {
  private let elapsed: @Sendable () -> Duration

  convenience init(_ clock: any Clock<Duration>) { self.init(started: clock) }

  private init<Base: Clock>(started clock: Base) where Base.Duration == Duration {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
  }

  /// The clock of a registry that was given none.
  static let continuous = ElapsedClock(ContinuousClock())

  var now: Duration { elapsed() }
}
