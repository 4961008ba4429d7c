import SpellRegistry
import TestSupport
import Testing

/// One of many types, so that a test can register as many as it needs.
private protocol Numbered: Sendable {
  static var zero: any Numbered.Type { get }
  static var one: any Numbered.Type { get }
  init(_ number: Int)
  var number: Int { get }
}

extension Numbered {
  /// Registers the type with this number, and returns a function that withdraws the registration.
  fileprivate static func register(in registry: InitializerRegistry, _ number: Int) -> () -> Void {
    let registration = registry.register(Self.self, scope: number.isMultiple(of: 2) ? .singleton : .unique) {
      Self(number)
    }
    return { registration.unregister() }
  }

  fileprivate static func number(in registry: InitializerRegistry) -> Int? {
    (try? registry.resolve(Self?.self))?.number
  }
}

private struct Zero<Rest>: Numbered {
  let number: Int
  init(_ number: Int) { self.number = number }
  static var zero: any Numbered.Type { Zero<Self>.self }
  static var one: any Numbered.Type { One<Self>.self }
}

private struct One<Rest>: Numbered {
  let number: Int
  init(_ number: Int) { self.number = number }
  static var zero: any Numbered.Type { Zero<Self>.self }
  static var one: any Numbered.Type { One<Self>.self }
}

private func types(_ count: Int) -> [any Numbered.Type] {
  var types: [any Numbered.Type] = [Zero<Never>.self]
  for index in 0..<count where types.count < count { types += [types[index].zero, types[index].one] }
  return types
}

@Suite("Many types", .timeLimit(.hang)) struct ManyTypesTests {
  /// A registry, and the number that it should give for each of its types.
  private struct Model {
    let registry = InitializerRegistry()
    let types = SpellRegistryTests.types(100)
    var expected: [Int: (number: Int, unregister: () -> Void)] = [:]

    mutating func register(_ index: Int, _ number: Int) {
      expected[index] = (number, types[index].register(in: registry, number))
    }

    func number(_ index: Int) -> Int? { types[index].number(in: registry) }
  }

  @Test("are registered, replaced and withdrawn in any order", arguments: 0..<UInt64(10))
  func anyOrder(seed: UInt64) {
    var (random, model) = (SplitMix(seed: seed), Model())
    for step in 0..<1_000 {
      let index = Int(random.below(UInt64(model.types.count)))
      switch random.below(200) {
      case 0:
        model.registry.removeAll()
        model.expected = [:]
      case 1..<100: model.register(index, step)
      default: model.expected.removeValue(forKey: index)?.unregister()
      }
      let other = Int(random.below(UInt64(model.types.count)))
      for index in [index, other] { #expect(model.number(index) == model.expected[index]?.number) }
    }
    for index in model.types.indices { #expect(model.number(index) == model.expected[index]?.number) }
  }

  @Test("a withdrawal of a replaced registration leaves the newer one and its value", arguments: [nil, "name"])
  func replaced(name: String?) throws {
    let registry = InitializerRegistry()
    let made = Counter()
    let name = name.map { PropertyName.equal(to: $0) }
    let old = registry.register(Int.self, named: name) { 1 }
    registry.register(Int.self, named: name, scope: .singleton) { made.increment() }
    let first = try registry.resolve(Int.self, named: "name")
    old.unregister()
    #expect(try registry.resolve(Int.self, named: "name") == first)
  }
}
