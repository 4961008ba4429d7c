import Benchmark
import Spellbook

/// An object that is injected, or made lazily.
final class Thing: Sendable {
  let number = 7
}

/// Text that is too long to be kept in place.
let longText = identity(String(repeating: "a", count: 40))

/// Registers what the samples' properties are injected with.
func registerSamples(in registry: InitializerRegistry = .shared) {
  registry.register { 7 }
  registry.register { longText }
  registry.register { Thing() }
}
