import Support
import TestSupport
import Testing

@Suite("Lock", .timeLimit(.hang)) struct LockTests {
  @Test("lets one in at a time, however many come")
  func exclusion() async {
    final class Counter: Sendable { let lock = Lock(0) }
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<1_000 { counter.lock.withLock { $0 += 1 } } }
      }
    }
    #expect(counter.lock.withLock { $0 } == 8_000)
  }

  @Test("is free again when what runs in it throws")
  func throwing() {
    struct Refused: Error {}
    let lock = Lock("first")
    #expect(throws: Refused.self) {
      try lock.withLock { state throws(Refused) in
        state = "second"
        throw Refused()
      }
    }
    #expect(lock.withLock { $0 } == "second")
  }
}
