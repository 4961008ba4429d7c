import SpellRegistry
import TestSupport
import Testing

@Suite("A thread that waited for a value", .timeLimit(.hang)) struct WaitingTests {
  @Test("gets the value that its scope's cache has dropped meanwhile")
  func reset() async throws {
    let (registry, cache, begun, go) = (InitializerRegistry(), ScopeCache("cache"), Latch(), Latch())
    let made = Counter()
    registry.register(Ticket.self, scope: .cached(in: cache)) {
      let number = made.increment()
      begun.open()
      go.wait()
      return Ticket(number)
    }
    async let first = onThread { try? registry.resolve(Ticket.self).number }
    _ = await onThread { begun.wait() }
    cache.reset()
    go.open()
    #expect(await first == 1)
    #expect(try registry.resolve(Ticket.self).number == 2)
  }
}
