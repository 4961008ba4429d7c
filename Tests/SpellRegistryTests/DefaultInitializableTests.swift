import SpellRegistry
import TestSupport
import Testing

@MainActor private final class Model: @MainActor DefaultInitializable {}

@Suite("Empty values", .timeLimit(.hang)) struct DefaultInitializableTests {
  private func empty<Value>(_: Value.Type) -> Value? { EmptyValue<Value>().make() }

  @Test("numbers are zero, texts and collections are empty")
  func standardTypes() {
    #expect(empty(Int.self) == 0)
    #expect(empty(UInt8.self) == 0)
    #expect(empty(Int128.self) == 0)
    #expect(empty(Double.self) == 0)
    #expect(empty(Float.self) == 0)
    #expect(empty(Bool.self) == false)
    #expect(empty(String.self) == "")
    #expect(empty(Substring.self) == "")
    #expect(empty([Clock].self)?.isEmpty == true)
    #expect(empty([String: Clock].self)?.isEmpty == true)
    #expect(empty(Set<Int>.self)?.isEmpty == true)
    #expect(empty(ContiguousArray<Int>.self)?.isEmpty == true)
    #expect(empty(ArraySlice<Int>.self)?.isEmpty == true)
  }

  @Test("a type without an empty value has none")
  func others() {
    #expect(empty(Clock.self) == nil)
    #expect(empty(FileTracker.self) == nil)
    #expect(empty(Clock?.self) == nil)
  }

  @Test("a type whose conformance is isolated to the main actor has an empty value only there")
  func isolated() async {
    #expect(await MainActor.run { EmptyValue<Model>().make() != nil })
    #expect(await Task.detached { EmptyValue<Model>().make() == nil }.value)
  }

  @Test("the registry does not make empty values by itself")
  func registry() {
    #expect(InitializerRegistry().error(resolving: Int.self)?.code == .notRegistered)
  }
}
