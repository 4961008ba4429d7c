import Benchmark
import Spellbook

func compareManyRegistrations() {
  // The texts have the same width, so that the names sort by number.
  for (count, number) in [(100, "   100"), (1_000, " 1,000"), (10_000, "10,000")] {
    Comparison(what: "Resolve one type among \(number) registrations", baseline: "among 10", goal: .ratio(1.1))
      .add(subject: { resolvingHot(among: count) }, baseline: { resolvingHot(among: 10) })
    Comparison(
      what: "Resolve any type among \(number) registrations", baseline: "among 10", goal: .ratio(2.5), times: 200
    )
    .add(subject: { resolvingShuffled(among: count) }, baseline: { resolvingShuffled(among: 10) })
  }
  compareRegistering()
}

private func resolvingHot(among count: Int) -> (Meter) throws -> Void {
  let registry = identity(InitializerRegistry())
  register(manyTypes(count - 1), in: registry)
  registry.register { Thing() }
  return { try $0.measure { for _ in $0 { use(try registry.resolve(Thing.self)) } } }
}

private func resolvingShuffled(among count: Int) -> (Meter) throws -> Void {
  let registry = identity(InitializerRegistry())
  let types = manyTypes(count)
  register(types, in: registry)
  for type in types { try? resolve(type, in: registry) }
  var generator = Shuffling(state: 2)
  return { meter in
    let asked = (0..<meter.times).map { _ in types.randomElement(using: &generator) ?? Root.self }
    try meter.measure { for index in $0 { try resolve(asked[index], in: registry) } }
  }
}

private func compareRegistering() {
  compareRegistering(1_000, " 1,000 types", isCold: false)
  compareRegistering(10_000, "10,000 types", isCold: false)
  compareRegistering(10_000, "10,000 types the first time", isCold: true)
}

private func compareRegistering(_ count: Int, _ number: String, isCold: Bool) {
  Comparison(
    what: "Register \(number)", baseline: "closures by type",
    goal: isCold ? .none : .ratio(count > 1_000 ? 5 : 3),
    extraAllocations: .infinity, times: 1, isCold: isCold
  ).add {
    let types = manyTypes(count)
    return { meter in
      let registry = InitializerRegistry()
      meter.measure { for _ in $0 { register(types, in: registry) } }
    }
  } baseline: {
    let types = manyTypes(count)
    return { meter in
      let closures = Closures()
      meter.measure { for _ in $0 { for type in types { register(type, in: closures) } } }
    }
  }
}

func register(_ types: [any ManyType.Type], in registry: InitializerRegistry) {
  for type in types { register(type, in: registry) }
}

private func register<Value: ManyType>(_: Value.Type, in registry: InitializerRegistry) {
  registry.register(Value.self) { Value() }
}

private func register<Value: ManyType>(_: Value.Type, in closures: Closures) {
  closures.register(Value.self) { Value() }
}

private func resolve<Value: ManyType>(_: Value.Type, in registry: InitializerRegistry) throws {
  use(try registry.resolve(Value.self))
}
