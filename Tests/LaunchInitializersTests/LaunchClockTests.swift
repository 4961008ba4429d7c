import Dispatch
import Testing

@testable import LaunchInitializers

@Suite("Deadlines") struct LaunchClockTests {
  @Test("have 64 bits of nanoseconds, even if an Int has 32")
  func range() {
    for seconds: UInt64 in [0, 2, 3, 3_600, 400 * 24 * 3_600] {
      let before = DispatchTime.now().uptimeNanoseconds
      let deadline = LaunchClock.deadline(after: .seconds(seconds)).uptimeNanoseconds
      let after = DispatchTime.now().uptimeNanoseconds
      // The deadline is exact to a microsecond, even after a hundred years.
      #expect((before - 1_000...after + 1_000).contains(deadline - seconds * 1_000_000_000))
    }
  }

  @Test("beyond the range of Dispatch never come")
  func never() {
    #expect(LaunchClock.deadline(after: .nanoseconds(Int64.max)) == .distantFuture)
    #expect(LaunchClock.deadline(after: .seconds(Int64.max)) == .distantFuture)
    #expect(LaunchClock.deadline(after: .seconds(-1)) <= .now())
  }
}
