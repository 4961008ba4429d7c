/// A clock that shows the time since its creation, as measured by a clock of any type.
final class ElapsedClock: Sendable {
  private let elapsed: @Sendable () -> Duration

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
  }

  /// The clock of registries that are created without a clock and without a parent.
  static let continuous = ElapsedClock(ContinuousClock())

  var now: Duration { elapsed() }
}
