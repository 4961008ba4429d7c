import Benchmark
import Dispatch
import Spellbook

func compareTasksAndThreads() {
  Comparison(what: "Resolve with a registry for the task", baseline: "without", goal: .ratio(1.2))
    .add(subject: { resolvingCurrent(in: InitializerRegistry()) }, baseline: { resolvingCurrent(in: nil) })
  Comparison(what: "Make and read with a registry for the task", baseline: "without", goal: .ratio(1.2), times: 200)
    .add(subject: { makingAndReading(in: InitializerRegistry()) }, baseline: { makingAndReading(in: nil) })
  // Twice the throughput is half the time; 1.8 times is 0.56.
  compareThreads("Int") { 7 }
  // Both threads change the reference count of one object, in one place in memory.
  compareThreads("object") { Thing() }
}

private func compareThreads<Value: Sendable>(_ kind: String, _ make: @escaping @Sendable () -> Value) {
  Comparison(
    what: "Resolve a singleton \(kind) in two threads", baseline: "as many in one", goal: .ratio(0.56), times: 500_000
  ).add(subject: { resolving(make, inThreads: 2) }, baseline: { resolving(make, inThreads: 1) })
}

private func resolvingCurrent(in registry: InitializerRegistry?) -> (Meter) throws -> Void {
  registerSamples(in: registry ?? .shared)
  return { meter in
    try run(in: registry) {
      try meter.measure { for _ in $0 { use(try InitializerRegistry.current.resolve(Thing.self)) } }
    }
  }
}

private func makingAndReading(in registry: InitializerRegistry?) -> (Meter) -> Void {
  registerSamples(in: registry ?? .shared)
  return { meter in
    run(in: registry) { meter.measure { for _ in $0 { use(InjectedThing().value) } } }
  }
}

private func run(in registry: InitializerRegistry?, _ body: () throws -> Void) rethrows {
  if let registry { try registry.run(body) } else { try body() }
}

private func resolving<Value: Sendable>(
  _ make: @escaping @Sendable () -> Value, inThreads threads: Int
) -> (Meter) -> Void {
  let registry = InitializerRegistry()
  registry.register(scope: .singleton, make)
  return { meter in
    meter.measure { range in
      DispatchQueue.concurrentPerform(iterations: threads) { _ in
        for _ in 0..<range.count / threads { use(try? registry.resolve(Value.self)) }
      }
    }
  }
}
