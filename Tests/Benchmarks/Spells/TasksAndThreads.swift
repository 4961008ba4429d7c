import Benchmark
import Dispatch
import Spellbook

func compareTasksAndThreads() {
  Comparison(what: "Resolve with a registry for the task", baseline: "without", goal: .ratio(1.2))
    .add(subject: { resolvingCurrent(in: InitializerRegistry()) }, baseline: { resolvingCurrent(in: nil) })
  Comparison(what: "Make and read with a registry for the task", baseline: "without", goal: .ratio(1.2), times: 200)
    .add(subject: { makingAndReading(in: InitializerRegistry()) }, baseline: { makingAndReading(in: nil) })
  compareThreads("Resolve a singleton Int") { resolving { 7 } }
  compareThreads("Re-read @Lazy, Int") { reading { $0.lazyNumber } }
  compareThreads("Re-read @Injected, Int") { reading { $0.injectedNumber } }
  compareThreads("Re-read @Preference, Int") { reading { $0.number } }
  compareThreads("Re-read a constant preference, Int") { { use(SharedPage.constant.value) } }
  // The threads change the reference count of one object, in one place in memory, which is slower than in one thread.
  compareThreads("Resolve a singleton object", goal: .none) { resolving { Thing() } }
  compareThreads("Re-read @Lazy, object", goal: .none) { reading { $0.lazyThing } }
  compareThreads("Re-read @Injected, object", goal: .none) { reading { $0.injectedThing } }
  compareThreads("Re-read @Preference, String", goal: .none) { reading { $0.text } }
  compareThreads("Ask for the current registry", goal: .none) { { use(InitializerRegistry.current) } }
}

/// An object whose values two threads read.
///
/// `@unchecked Sendable`: the values of the properties are `Sendable`, and nothing assigns the properties.
private final class SharedPage: @unchecked Sendable {
  static let store = MemoryPreferenceStore()
  static let constant = Preference("number", default: 7, store: store)

  @Lazy var lazyNumber = 7
  @Lazy var lazyThing = Thing()
  @Injected var injectedNumber: Int
  @Injected var injectedThing: Thing
  @Preference("number", store: store) var number = 7
  @Preference("text", store: store) var text = longText
}

/// Compares the time of a number of calls in two threads with that of as many calls in one.
///
/// Twice the throughput is half the time; 1.8 times is 0.56.
private func compareThreads(
  _ what: String, goal: Goal = .ratio(0.56), _ prepare: @escaping () -> @Sendable () -> Void
) {
  Comparison(what: "\(what) in two threads", baseline: "as many in one", goal: goal, times: 500_000)
    .add(subject: { calling(prepare(), inThreads: 2) }, baseline: { calling(prepare(), inThreads: 1) })
}

private func calling(_ call: @escaping @Sendable () -> Void, inThreads threads: Int) -> (Meter) -> Void {
  { meter in
    meter.measure { range in
      DispatchQueue.concurrentPerform(iterations: threads) { _ in for _ in 0..<range.count / threads { call() } }
    }
  }
}

@inline(__always) private func reading<Value>(
  _ value: @escaping @Sendable (SharedPage) -> Value
) -> @Sendable () -> Void {
  registerSamples()
  let page = SharedPage()
  return { use(value(page)) }
}

private func resolving<Value: Sendable>(_ make: @escaping @Sendable () -> Value) -> @Sendable () -> Void {
  let registry = InitializerRegistry()
  registry.register(scope: .singleton, make)
  return { use(try? registry.resolve(Value.self)) }
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
