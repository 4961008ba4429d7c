import SpellRegistry
import Testing

@Suite("Empty values") struct DefaultInitializableTests {
  private func empty<Value>(_: Value.Type) -> Value? {
    (Value.self as? any DefaultInitializable.Type)?.init() as? Value
  }

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
  }

  @Test("the registry does not make empty values by itself")
  func registry() {
    #expect(InitializerRegistry().error(resolving: Int.self)?.code == .notRegistered)
  }
}
