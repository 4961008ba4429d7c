import Support
import SpellTesting
import TestSupport
import Testing

@Suite("TestClock", .timeLimit(.hang)) struct TestClockTests {
  let clock = TestClock()

  @Test("stands still until it is advanced, by a duration or to a time")
  func advancing() {
    #expect(clock.now == TestClock.Instant())
    clock.advance(by: .seconds(1))
    clock.advance(by: .zero)
    #expect(clock.now.offset == .seconds(1))
    clock.advance(to: TestClock.Instant(offset: .seconds(90)))
    #expect(clock.now.offset == .seconds(90))
    #expect(clock.now.duration(to: clock.now.advanced(by: .seconds(-30))) == .seconds(-30))
  }

  @Test("measures what happens on it")
  func measuring() {
    #expect(clock.measure { clock.advance(by: .milliseconds(250)) } == .milliseconds(250))
  }

  @Test("doesn't go back")
  func backwards() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let clock = TestClock()
      clock.advance(by: .seconds(5))
      clock.advance(by: .seconds(-1))
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains("A TestClock at 5.0 seconds can't go back to 4.0 seconds."))
  }

  @Test("wakes no task before its deadline")
  func early() async throws {
    let journal = Journal()
    let sleeper = Task {
      try await clock.sleep(for: .seconds(10))
      journal.note("woke at \(clock.now)")
    }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10) - .nanoseconds(1))
    #expect(clock.deadlines == [TestClock.Instant(offset: .seconds(10))])
    #expect(journal.entries.isEmpty)
    clock.advance(by: .nanoseconds(1))
    try await sleeper.value
    #expect(journal.entries == ["woke at 10.0 seconds"])
    #expect(clock.deadlines.isEmpty)
  }

  @Test("doesn't let a task sleep whose deadline has passed")
  func late() async throws {
    clock.advance(by: .seconds(10))
    try await clock.sleep(until: TestClock.Instant(offset: .seconds(10)))
    try await clock.sleep(for: .seconds(-1))
  }

  @Test("wakes each task at its deadline, in whatever order the deadlines were set")
  func order() async throws {
    let (clock, journal) = (clock, Journal())
    let seconds = [3, 1, 4, 2, 5]
    let sleepers = seconds.map { second in
      Task {
        try await clock.sleep(for: .seconds(second))
        journal.note("\(second)")
      }
    }
    await clock.waitForSleepers(5)
    #expect(clock.deadlines.map(\.offset) == (1...5).map { .seconds($0) })
    for (_, sleeper) in zip(seconds, sleepers).sorted(by: { $0.0 < $1.0 }) {
      clock.advance(by: .seconds(1))
      try await sleeper.value
    }
    #expect(journal.entries == ["1", "2", "3", "4", "5"])
  }

  @Test("advances a loop one sleep at a time")
  func loop() async throws {
    let journal = Journal()
    let loop = Task {
      for turn in 1...3 {
        try await clock.sleep(for: .seconds(60))
        journal.note("\(turn) at \(clock.now)")
      }
    }
    for _ in 1...3 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(60))
    }
    try await loop.value
    #expect(journal.entries == ["1 at 60.0 seconds", "2 at 120.0 seconds", "3 at 180.0 seconds"])
  }

  @Test("ends the sleep of a task that is cancelled, and of no other")
  func cancellation() async throws {
    let cancelled = Task { try await clock.sleep(for: .seconds(1)) }
    let other = Task { try await clock.sleep(for: .seconds(2)) }
    await clock.waitForSleepers(2)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(clock.deadlines == [TestClock.Instant(offset: .seconds(2))])
    clock.advance(by: .seconds(2))
    try await other.value
  }

  @Test("doesn't let a cancelled task sleep, even for no time")
  func cancelledBefore() async {
    for duration in [Duration.seconds(1), .zero] {
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await clock.sleep(for: duration)
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(clock.deadlines.isEmpty)
  }

  @Test("lets a test wait for a sleeper's deadline, and for the last to be woken")
  func waiting() async throws {
    let sleeper = Task {
      try await clock.sleep(for: .seconds(1))
      try await clock.sleep(for: .seconds(5))
    }
    await clock.waitForSleeper(until: .seconds(1))
    clock.advance(by: .seconds(1))
    await clock.waitForSleeper(until: .seconds(6))
    sleeper.cancel()
    await clock.waitForSleepers(0)
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("doesn't keep a cancelled test waiting")
  func cancelledWait() async {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let waiting = Task {
      begin.finish()
      await clock.waitForSleepers(1)
    }
    for await _ in begun {}
    waiting.cancel()
    await waiting.value
    #expect(clock.deadlines.isEmpty)
  }

  @Test("fails a test that waits for the wrong sleepers, and names those that there are")
  func wrongWait() async {
    let sleeper = Task { try await clock.sleep(for: .seconds(7)) }
    await clock.waitForSleepers(1)
    let issues = await issues {
      await clock.waitForSleepers(2, within: .milliseconds(10))
      await clock.waitForSleeper(until: .seconds(8), within: .milliseconds(10))
    }.map(\.text)
    #expect(issues.count == 2)
    #expect(issues.first?.contains("for exactly 2 to sleep on the clock, and 1 sleep, until 7.0 seconds") == true)
    #expect(issues.last?.contains("for one to sleep until 8.0 seconds") == true)
    sleeper.cancel()
    await clock.waitForSleepers(0)
  }

  @Test("wakes every task once, however many sleep, cancel and advance at the same time")
  func race() async throws {
    let (clock, woken, cancelled) = (clock, Journal(), Journal())
    let sleepers = 200
    await withTaskGroup(of: Void.self) { group in
      for number in 1...sleepers {
        group.addTask {
          let sleeper = Task { try await clock.sleep(for: .milliseconds(number)) }
          if number % 5 == 0 { sleeper.cancel() }
          do {
            try await sleeper.value
            woken.note("\(number)")
          } catch {
            cancelled.note("\(number)")
          }
        }
      }
      group.addTask {
        while woken.entries.count + cancelled.entries.count < sleepers {
          clock.advance(by: .milliseconds(1))
          await Task.yield()
        }
      }
    }
    #expect(Set(woken.entries + cancelled.entries).count == sleepers)
    #expect(woken.entries.count >= sleepers - sleepers / 5)
    #expect(clock.deadlines.isEmpty)
  }

  @Test("drives a timeout through any clock of durations")
  func erased() async throws {
    let erased: any Clock<Duration> = clock
    let sleeper = Task { try await erased.sleep(for: .seconds(3)) }
    await clock.waitForSleeper(until: .seconds(3))
    clock.advance(by: .seconds(3))
    try await sleeper.value
  }
}
