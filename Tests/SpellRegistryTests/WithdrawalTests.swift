import SpellRegistry
import TestSupport
import Testing

@Suite("A singleton that goes while it is made", .timeLimit(.hang)) struct WithdrawalTests {
  enum Way: CaseIterable { case unregister, replace, removeAll }

  @Test("is made once for all who asked before, however it goes", arguments: Way.allCases)
  func madeOnce(_ way: Way) async {
    for _ in 0..<50 {
      let (registry, runs) = (InitializerRegistry(), Counter())
      let (begun, mayEnd) = (Latch(), Latch())
      let registration = registry.register(Ticket.self, scope: .singleton) {
        let run = runs.increment()
        begun.open()
        mayEnd.wait()
        return Ticket(run)
      }
      async let numbers = onThreads(8) { index -> Int? in
        if index == 0 { return (try? registry.resolve(Ticket.self))?.number }
        begun.wait()
        return (try? registry.resolve(Ticket.self))?.number
      }
      async let withdrawn: Void = onThread {
        begun.wait()
        switch way {
        case .unregister: registration.unregister()
        case .replace: registry.register(Ticket.self, scope: .singleton) { Ticket(100) }
        case .removeAll: registry.removeAll()
        }
        mayEnd.open()
      }
      await withdrawn
      let made = await numbers
      #expect(runs.value == 1)
      // Who came too late got nothing, or what took its place.
      #expect(made.allSatisfy { $0 == 1 || $0 == (way == .replace ? 100 : nil) }, "\(made)")
      #expect(made.contains(1))
    }
  }
}
