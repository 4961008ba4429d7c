import SpellRegistry
import TestSupport
import Testing

/// Returns the time of `subject` as a multiple of that of `baseline`: the best of several alternating rounds.
///
/// Other work of the machine therefore doesn't count. If the machine is busy, there are more rounds.
private func ratio(of subject: () -> Void, to baseline: () -> Void) -> Double {
  let clock = ContinuousClock()
  var (mine, others) = (Duration.seconds(3600), Duration.seconds(3600))
  for round in 0..<500 where round < 12 || mine / others >= 10 {
    mine = min(mine, clock.measure(subject))
    others = min(others, clock.measure(baseline))
  }
  return mine / others
}

private func times(_ count: Int, _ body: @escaping () -> Void) -> () -> Void { { for _ in 0..<count { body() } } }

@Suite("What costs no more among many", .timeLimit(.hang)) struct CostTests {
  /// A registry with 10 named integers, and one with 10,000.
  private let few = CostTests.registry(of: 10)
  private let many = CostTests.registry(of: 10_000)

  private static func registry(of count: Int) -> InitializerRegistry {
    let registry = InitializerRegistry()
    for index in 0..<count { registry.register(Int.self, named: .equal(to: "\(index)"), scope: .singleton) { index } }
    return registry
  }

  @Test("one name among 10,000 of a type")
  func names() {
    let ratio = ratio(
      of: times(500) { #expect((try? many.resolve(Int.self, named: "7")) == 7) },
      to: times(500) { #expect((try? few.resolve(Int.self, named: "7")) == 7) })
    #expect(ratio < 10)
  }

  @Test("a resolve that fails among 10,000 registrations, whose error isn't described")
  func failing() {
    let ratio = ratio(
      of: times(50) { _ = many.error(resolving: String.self) },
      to: times(50) { _ = few.error(resolving: String.self) })
    #expect(ratio < 10)
  }

  @Test("a singleton beside 100 instances of any supertype")
  func universal() {
    let (alone, beside) = (InitializerRegistry(), InitializerRegistry())
    for index in 0..<100 {
      func add<Value: Sendable>(_ value: Value) { beside.register(.instance(value, as: .anySupertype)) }
      if index.isMultiple(of: 2) { add(Ticket(index)) } else { add(FileTracker("\(index)")) }
      beside.register(named: .equal(to: "\(index)"), .instance(index, as: .anySupertype))
    }
    for registry in [alone, beside] { registry.register(Clock.self, scope: .singleton) { Clock() } }
    let ratio = ratio(
      of: times(500) { _ = try? beside.resolve(Clock.self) }, to: times(500) { _ = try? alone.resolve(Clock.self) })
    #expect(ratio < 10)
  }
}
