import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Token: Sendable {}

private func registerTokens(in registry: InitializerRegistry) {
  registry.register(Token.self, scope: .singleton.expiring(after: .seconds(3600))) { Token() }
}

private func token() throws -> Token { try InitializerRegistry.current.resolve() }

@Suite("A registry trait with a clock", .registry(clock: TestClock()) { registerTokens(in: $0) }, .timeLimit(.hang))
struct ClockTraitTests {
  let clock: TestClock

  init() throws { clock = try InitializerRegistry.current.resolve() }

  @Test("a registry trait with a clock lets a test expire kept values", arguments: 1...5)
  func letsATestExpireWhatIsKept(hours: Int) throws {
    let first = try token()
    clock.advance(by: .seconds(3600 * hours) - .nanoseconds(hours == 1 ? 1 : 0))
    #expect(try (token() === first) == (hours == 1))
    #expect(clock.now.offset > .zero)
  }

  @Test("a registry trait with a clock registers it as any clock too")
  func registersItAsAnyClockToo() async throws {
    let any = try InitializerRegistry.current.resolve((any Clock<Duration>).self)
    #expect(any as? TestClock === clock)
  }

  @Test("a suite's clock drives what a test registers", .registry { registerTokens(in: $0) })
  func drivesWhatATestRegistersToo() throws {
    let first = try token()
    clock.advance(by: .seconds(3600))
    #expect(try token() !== first)
  }
}

@Suite("A clock of a test", .registry { registerTokens(in: $0) }) struct InnerClockTests {
  @Test("a test's own clock drives what its suite registers", .registry(clock: TestClock()))
  func drivesWhatItsSuiteRegisters() throws {
    let clock = try InitializerRegistry.current.resolve(TestClock.self)
    let first = try token()
    #expect(try token() === first)
    clock.advance(by: .seconds(3600))
    #expect(try token() !== first)
  }

  @Test("a test's own clock may follow another trait", .preferences(["a": 1]), .registry(clock: TestClock()))
  func standsAfterAnotherTrait() throws {
    let first = try token()
    try InitializerRegistry.current.resolve(TestClock.self).advance(by: .seconds(3600))
    #expect(try token() !== first)
  }

  @Test("a test's trait doesn't apply to its neighbor")
  func isNotThereForItsNeighbour() throws {
    #expect(throws: InjectionError.self) { try InitializerRegistry.current.resolve(TestClock.self) }
  }
}
