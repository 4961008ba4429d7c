import Dispatch
import Testing

@testable import LaunchInitializers

@Suite("Deadlines") struct LaunchClockTests {
  @Test("have 64 bits of nanoseconds, also where an Int has 32")
  func range() {
    let pauses: [Duration] = [.zero, .seconds(2), .seconds(3), .seconds(3_600), .seconds(400 * 24 * 3_600)]
    let nanoseconds: [Int64] = pauses.map(\.nanoseconds)
    #expect(nanoseconds == [0, 2_000_000_000, 3_000_000_000, 3_600_000_000_000, 34_560_000_000_000_000])
    for (pause, nanoseconds) in zip(pauses, nanoseconds) {
      let before = DispatchTime.now().uptimeNanoseconds
      let deadline = LaunchClock.deadline(after: pause).uptimeNanoseconds
      let after = DispatchTime.now().uptimeNanoseconds
      #expect((before...after).contains(deadline - UInt64(nanoseconds)))
    }
  }

  @Test("beyond the range of Dispatch never come")
  func never() {
    #expect(LaunchClock.deadline(after: .nanoseconds(Int64.max)) == .distantFuture)
    #expect(LaunchClock.deadline(after: .seconds(Int64.max)) == .distantFuture)
    #expect(LaunchClock.deadline(after: .seconds(-1)) <= .now())
  }
}
