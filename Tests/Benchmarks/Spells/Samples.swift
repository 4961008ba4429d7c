import Benchmark
import Spellbook

/// An object that is injected or made lazily.
final class Thing: Sendable {
  let number = 7
}

/// Text that is too long to be stored inline in a String.
let longText = identity(String(repeating: "a", count: 40))

/// Registers the values of the samples' properties.
func registerSamples(in registry: InitializerRegistry = .shared) {
  registry.register { 7 }
  registry.register { longText }
  registry.register { Thing() }
}
