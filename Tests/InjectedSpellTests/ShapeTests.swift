import InjectedSpell
import SpellRegistry
import SpellTesting
import Testing
import TestSupport

/// Between the request and the initializer, a value is only memory, so these tests use values of many sizes and
/// layouts.
@Suite("A value of any size and layout", .registry) struct ShapeTests {
  var registry: InitializerRegistry { .current }

  struct Nothing: Sendable, Equatable {}
  struct Odd: Sendable, Equatable {
    var word = UInt64.max
    var half = UInt32(7)
    var byte = UInt8(3)
  }
  struct Wide: Sendable, Equatable { var lanes = SIMD16<Double>(repeating: 0.5) }
  struct Large: Sendable, Equatable {
    var rows = (0..<40).map { [$0, $0 + 1] }
    var a = SIMD64<UInt64>(repeating: 1), b = SIMD64<UInt64>(repeating: 2), c = SIMD64<UInt64>(repeating: 3)
  }
  /// A value that can't be moved as bytes.
  struct Watcher: Sendable {
    weak let object: Thing?
    let name: String
  }
  enum Choice: Sendable, Equatable {
    case none
    case number(Int)
    case text(String, [Odd])
  }
  final class Thing: Sendable {}
  struct Generic<Item: Sendable & Equatable>: Sendable, Equatable {
    var items: [Item]
    var last: Item?
  }

  /// A class whose property asks for a value.
  final class Holder<Value: Sendable> {
    @Injected var value: Value
    @Injected(.everyRead) var fresh: Value
  }

  @Test("arrives whole from each scope, registry and property")
  func arrives() throws {
    try check(Nothing()) { $0 == $1 }
    try check(()) { _, _ in true }
    try check(UInt8(200)) { $0 == $1 }
    try check(Odd()) { $0 == $1 }
    try check(Wide()) { $0 == $1 }
    try check(Large()) { $0 == $1 }
    try check(Choice.text("é", [Odd(), Odd(word: 1)])) { $0 == $1 }
    try check(Generic(items: ["a", "b"], last: "c")) { $0 == $1 }
    try check((1, "two", [3.0])) { $0 == $1 }
    try check("a text that doesn't fit into two words") { $0 == $1 }
    try check(Int.self as any Any.Type) { $0 == $1 }
    try check(Odd() as any Sendable & Equatable) { "\($0)" == "\($1)" }
    try check({ $0 + 1 } as @Sendable (Int) -> Int) { $0(1) == $1(1) }
    let thing = Thing()
    try check(thing) { $0 === $1 }
    try check(thing as any AnyObject & Sendable) { $0 === $1 }
    try check(Watcher(object: thing, name: "watcher")) { $0.object === $1.object && $0.name == $1.name }
  }

  private func check<Value: Sendable>(
    _ value: Value, at location: SourceLocation = #_sourceLocation, _ areEqual: (Value, Value) -> Bool
  ) throws {
    let makers: [(InitializerRegistry) -> Registration<Value>] = [
      { $0.register(Value.self) { value } },
      { $0.register(Value.self, scope: .singleton) { value } },
      { $0.register(Value.self, scope: .graph) { _ in value } },
      { $0.register(Value.self, scope: .cached(in: ScopeCache("shapes"))) { value } },
      { $0.register(.instance(value)) },
    ]
    for make in makers {
      let registration = make(registry)
      let child = InitializerRegistry(parent: registry)
      for asked in [registry, child, registry] {
        #expect(areEqual(try asked.resolve(Value.self), value), sourceLocation: location)
        #expect(areEqual(try #require(try asked.resolve(Value?.self)), value), sourceLocation: location)
        let holder = asked.run { Holder<Value>() }
        #expect(areEqual(holder.value, value) && areEqual(holder.value, value), sourceLocation: location)
        #expect(areEqual(holder.fresh, value), sourceLocation: location)
      }
      registration.unregister()
    }
    let key = InjectionKey(line: UInt(location.line)) { value }
    #expect(areEqual(try registry.resolve(key), value), sourceLocation: location)
    registry.register(ArgumentFactory<Value, Int>.self, .factory { _, _ in value })
    #expect(areEqual(try registry.resolve(Value.self, arguments: 1), value), sourceLocation: location)
  }

  @Test("has the supertypes of its own type, and none of an Optional's")
  func supertypes() throws {
    registry.register((any CustomDebugStringConvertible).self) { "registered" }
    let child = InitializerRegistry(parent: registry)
    child.register(.instance(Nothing(), as: .anySupertype))
    #expect(type(of: try child.resolve(Any.self)) == Nothing.self)
    #expect(type(of: try child.run { Holder<any Sendable>() }.$value.resolve()) == Nothing.self)
    #expect(try child.resolve((any CustomDebugStringConvertible).self) as? String == "registered")
    #expect(try child.resolveAll((any CustomDebugStringConvertible).self).count == 1)
    #expect(!child.isRegistered((any ExpressibleByNilLiteral).self))
    #expect(try child.resolve((any CustomReflectable)?.self) == nil)
    #expect(child.validate().isEmpty)
    registry.removeAll()
    child.register(.autowire({ @Sendable (_: any CustomDebugStringConvertible) in Odd() }))
    #expect(child.validate().map(\.code) == [.notRegistered])
  }

  @Test("is released once, even if what comes after it fails")
  func released() throws {
    struct Refusal: Error {}
    struct Pair: Sendable { let first: Counted, second: Counted }
    let live = Shared(0)
    registry.register { Counted(live) }
    registry.register(Pair.self) { resolver in
      let pair = Pair(first: try resolver.resolve(), second: try resolver.resolve())
      if live.value > 4 { throw Refusal() }
      return pair
    }
    do {
      let pairs = [try registry.resolve(Pair.self), try registry.resolve(Pair.self)]
      #expect(live.value == 4)
      #expect(throws: InjectionError.self) { try registry.resolve(Pair.self) }
      #expect(throws: InjectionError.self) { try Holder<Pair>().$value.resolve() }
      #expect(live.value == 4)
      withExtendedLifetime(pairs) {}
    }
    #expect(live.value == 0)
  }

  final class Counted: Sendable {
    private let live: Shared<Int>
    init(_ live: Shared<Int>) {
      self.live = live
      live.update { $0 += 1 }
    }
    deinit { live.update { $0 -= 1 } }
  }
}
