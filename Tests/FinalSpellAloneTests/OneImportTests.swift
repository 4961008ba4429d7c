import FinalSpell
import Testing

// This target depends on no other module of the package, so it compiles only if FinalSpell exports the registry.

@Suite("The one import") struct OneImportTests {
  private final class Page { @Final var value: Int }

  @Test("is enough to register a value, to declare and read a property, and to resolve the value")
  func registry() throws {
    let registry = InitializerRegistry()
    registry.register(scope: .singleton, .init { 7 })
    let page = registry.run { Page() }
    #expect(!page.$value.hasValue)
    #expect(page.value == 7 && page.$value.hasValue)
    #expect(try registry.resolve(Int.self) == 7)
  }
}
