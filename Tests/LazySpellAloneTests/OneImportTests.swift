import LazySpell
import Testing

// This target depends on no other module of the package, so it compiles only if LazySpell exports the registry.

@Suite("The one import") struct OneImportTests {
  private final class Page { @Lazy var value = 1 }

  @Test("is enough to declare a property, to register a value and to resolve it")
  func registry() throws {
    let registry = InitializerRegistry()
    registry.register(scope: .singleton, .init { 7 })
    #expect(!registry.run { Page() }.$value.hasValue)
    #expect(try registry.resolve(Int.self) == 7)
  }
}
