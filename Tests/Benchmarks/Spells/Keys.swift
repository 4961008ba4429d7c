import Benchmark
import Spellbook

extension InjectionKeys {
  fileprivate static let thing = InjectionKey { Thing() }
  fileprivate static let shared = InjectionKey(scope: .singleton) { Thing() }
}

private final class KeyedThing: Holder {
  @Injected(.thing) var value: Thing
}

/// Compares a declared key that has no registration with a registered type.
func compareKeys() {
  Comparison(
    what: "Make an object and read its @Injected of a key once", baseline: "of a type", goal: .ratio(1.1),
    extraAllocations: 0, times: 200
  ).add(subject: { makingAndReading(KeyedThing.self) }, baseline: { makingAndReading(InjectedThing.self) })
  Comparison(what: "Read an @Injected of a key again", baseline: "of a type", goal: .ratio(1.1), extraAllocations: 0)
    .add(subject: { readingAgain(KeyedThing.self) }, baseline: { readingAgain(InjectedThing.self) })
  Comparison(what: "Resolve a singleton of a key", baseline: "of a type", goal: .ratio(1.1), extraAllocations: 0)
    .add {
      let registry = identity(InitializerRegistry())
      return { try $0.measure { for _ in $0 { use(try registry.resolve(.shared)) } } }
    } baseline: {
      let registry = identity(InitializerRegistry())
      registry.register(Thing.self, scope: .singleton) { Thing() }
      return { try $0.measure { for _ in $0 { use(try registry.resolve(Thing.self)) } } }
    }
}
