/// A function that returns the time since its creation, as measured by a clock of any type.
typealias ElapsedClock = @Sendable () -> Duration

func elapsedClock(_ clock: some Clock<Duration>) -> ElapsedClock {
  let start = clock.now
  return { start.duration(to: clock.now) }
}

/// The clock of registries that are created without a clock and without a parent.
let continuousClock = elapsedClock(ContinuousClock())
