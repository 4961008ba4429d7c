import StandardKeys
import TestSupport
import Testing

@Suite("An immediate clock", .timeLimit(.hang)) struct ImmediateClockTests {
  typealias Instant = ImmediateClock.Instant

  @Test("is set forward by each sleep, and never back")
  func forward() async throws {
    let clock = ImmediateClock()
    #expect(clock.now == Instant())
    try await clock.sleep(for: .seconds(60))
    #expect(clock.now.offset == .seconds(60))
    try await clock.sleep(until: Instant(offset: .seconds(30)))
    #expect(clock.now.offset == .seconds(60))
    #expect(clock.now.description == "60.0 seconds" && clock.minimumResolution == .nanoseconds(1))
    #expect(Instant().duration(to: clock.now) == .seconds(60) && Instant() < clock.now)
  }

  @Test("throws in a cancelled task, and stays where it is")
  func cancelled() async {
    let clock = ImmediateClock()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(1))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.now.offset == .zero)
  }

  @Test("lets a loop that sleeps be cancelled")
  func loop() async {
    let clock = ImmediateClock()
    let task = Task { while true { try await clock.sleep(for: .seconds(1)) } }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
