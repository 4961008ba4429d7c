import FinalSpell
import Testing

// This target depends on no other module of the package, so it compiles only if FinalSpell exports the registry.

@Suite("The one import") struct OneImportTests {
  private final class Page { @Final var value: Int }

  @Test("is enough to declare a property, to register a value and to resolve it")
  func registry() throws {
    let registry = InitializerRegistry()
    registry.register(scope: .singleton, .init { 7 })
    #expect(!registry.run { Page() }.$value.hasValue)
    #expect(try registry.resolve(Int.self) == 7)
  }
}
