import SpellDiagnostics
import SpellRegistry
import TestSupport
import Testing

private final class A: Sendable { init(_: B) {} }
private final class B: Sendable { init(_: C) {} }
private final class C: Sendable { init(_: A) {} }

@Suite("validate()", .timeLimit(.hang)) struct ValidateTests {
  let registry = InitializerRegistry()

  @Test("a registry in which everything is registered has no problem, and nothing runs")
  func complete() {
    let runs = Counter()
    registry.register(Clock.self, scope: .singleton) {
      runs.increment()
      return Clock()
    }
    registry.register(Network.self, .autowire(Network.init))
    registry.register(Checkout.self, .autowire(Checkout.init))
    #expect(registry.validate().isEmpty)
    #expect(runs.value == 0)
  }

  @Test("each missing dependency is reported, with the type that needs it and the place of its registration")
  func missing() throws {
    registry.register(Network.self, .autowire(Network.init))
    let line: UInt = #line + 1
    registry.register(Checkout.self, .autowire(Checkout.init))
    let errors = registry.validate()
    #expect(errors.map(\.code) == [.notRegistered, .notRegistered])
    #expect(errors.map(\.path) == [["Network", "Clock"], ["Checkout", "Clock"]])
    #expect(errors[1].description.contains("ValidateTests.swift:\(line)"))
    #expect(errors[1].description.hasPrefix("No initializer is registered for Clock, which Checkout needs."))
  }

  private struct Ledger: Sendable {}
  private struct LedgerView: Sendable { init(_: Ledger) {} }

  @Test("a type that needs a missing dependency isn't suggested for it, although their names are similar")
  func asker() {
    registry.register(LedgerView.self, .autowire(LedgerView.init))
    #expect(registry.validate().first?.code == .notRegistered)
    #expect(registry.validate().first?.description.contains("Registered, but not for this") == false)
  }

  @Test("a dependency that only a name or a container has is missing")
  func otherKeys() {
    registry.register(Clock.self, named: "wall") { Clock() }
    registry.register(Clock.self, .in(Ticket.self) { _ in Clock() })
    registry.register(ArgumentFactory<Clock, Int>.self, .factory { _, _ in Clock() })
    registry.register(Network.self, .autowire(Network.init))
    #expect(registry.validate().map(\.path) == [["Network", "Clock"]])
  }

  @Test("instances of any supertype, the parent, and nil for an Optional count as there")
  func present() {
    let child = InitializerRegistry(parent: registry)
    registry.register { Clock() }
    child.register(Network.self, .autowire(Network.init))
    child.register(.instance(FileTracker(), as: .anySupertype))
    child.register(String.self, .autowire({ (tracker: any Tracker, _: Int?) in tracker.label }))
    #expect(child.validate().isEmpty)
  }

  @Test("a cycle is reported once, with its whole path, and nothing of it runs")
  func circle() throws {
    registry.register(A.self, scope: .singleton, .autowire(A.init))
    registry.register(B.self, .autowire(B.init))
    registry.register(C.self, scope: .graph, .autowire(C.init))
    let errors = registry.validate().filter { $0.code == .cycle }
    #expect(errors.count == 1)
    #expect(errors.first?.path == ["A", "B", "C", "A"])
  }

  @Test("two cycles, and one of a single type, are all reported")
  func circles() {
    registry.register(Int.self, .autowire({ (text: String) in text.count }))
    registry.register(String.self, .autowire({ (number: Int) in "\(number)" }))
    registry.register(Bool.self, .autowire({ (value: Bool) in !value }))
    let paths = registry.validate().map(\.path)
    #expect(paths == [["Int", "String", "Int"], ["Bool", "Bool"]])
  }

  @Test("a cycle through an Optional that is registered is reported")
  func optionalCircle() {
    registry.register(Int.self, .autowire({ (text: String?) in text?.count ?? 0 }))
    registry.register(String.self, .autowire({ (number: Int) in "\(number)" }))
    #expect(registry.validate().map(\.code) == [.cycle])
  }

  @Test("a cycle's error says where to break it")
  func cycleAdvice() throws {
    registry.register(Int.self, .autowire({ (text: String) in text.count }))
    registry.register(String.self, .autowire({ (number: Int) in "\(number)" }))
    let error = try #require(registry.validate().first)
    #expect(
      error.description.contains("Let String ask for it after `init`, by a constant: let later = Injected<Int>()"),
      "\(error)")
  }

  @Test("a need that can be awaited is fine", arguments: [Scope<Clock>.unique, .graph, .singleton])
  func awaited(scope: Scope<Clock>) async throws {
    registry.register(Clock.self, scope: scope, .async { Clock() })
    registry.register(Network.self, .autowire(Network.init))
    #expect(registry.validate().isEmpty)
    _ = try await registry.resolveAsync(Network.self)
  }

  @Test("a key's own initializer is checked if the key is given, unless something is registered for the key")
  func keys() throws {
    #expect(registry.validate().isEmpty)
    let errors = registry.validate(keys: .wired, .plain)
    #expect(errors.map(\.code) == [.notRegistered] && errors.map(\.path) == [["Network", "Clock"]])
    #expect(errors.first?.description.contains("of the key declared at") == true)
    registry.register(.wired) { Network(clock: Clock()) }
    #expect(registry.validate(keys: .wired).isEmpty)
  }

  @Test("a diamond isn't a cycle")
  func diamond() {
    registry.register { Clock() }
    registry.register(Network.self, .autowire(Network.init))
    registry.register(Checkout.self, .autowire(Checkout.init))
    registry.register(String.self, .autowire({ (_: Checkout, _: Network, _: Clock) in "" }))
    #expect(registry.validate().isEmpty)
  }

  @Test("a parent's singleton must find its dependencies in the parent")
  func parentSingleton() {
    let child = InitializerRegistry(parent: registry)
    registry.register(Network.self, scope: .singleton, .autowire(Network.init))
    child.register { Clock() }
    #expect(child.error(resolving: Network.self)?.code == .notRegistered)
    #expect(child.validate().map(\.path) == [["Network", "Clock"]])
  }

  @Test("a chain of ten thousand types is walked without a stack overflow, and so is the ring of them")
  func longChain() async {
    let registry = registry
    let errors = await onThread { () -> [InjectionError] in
      let types = linkTypes()
      for (type, next) in zip(types, types.dropFirst()) { type.register(needing: next, in: registry) }
      return registry.validate()
    }
    #expect(errors.map(\.code) == [.notRegistered])
    let graph = registry.graph()
    #expect(graph.nodes.count == 10_000)
    #expect(graph.edges.count == 9_999)

    let circles = await onThread { () -> [InjectionError] in
      let types = linkTypes()
      types[9_999].register(needing: types[0], in: registry)
      return registry.validate()
    }
    #expect(circles.map(\.code) == [.cycle])
    #expect(circles.first?.path.count == 10_001)
  }

  @Test("a value that holds one that expires earlier is a capture; one that expires later or at once isn't")
  func expiries() {
    func codes(_ holder: Duration, _ held: Duration) -> [InjectionError.Code] {
      let registry = InitializerRegistry()
      registry.register(Clock.self, scope: .singleton.expiring(after: held)) { Clock() }
      registry.register(Network.self, scope: .singleton.expiring(after: holder), .autowire(Network.init))
      return registry.validate().map(\.code)
    }
    #expect(codes(.seconds(100), .seconds(1)) == [.scopeCapture])
    #expect(codes(.seconds(1), .seconds(100)).isEmpty)
    #expect(codes(.seconds(1), .seconds(1)).isEmpty)
    let registry = InitializerRegistry()
    registry.register(Clock.self, scope: .weak.expiring(after: .seconds(1))) { Clock() }
    registry.register(Network.self, scope: .weak, .autowire(Network.init))
    #expect(registry.validate().map(\.code) == [.scopeCapture])
  }
}

extension InjectionKeys {
  fileprivate static let wired = InjectionKey(.autowire(Network.init))
  fileprivate static let plain = InjectionKey { Clock() }
}

// Ten thousand types, each with four digits.
private protocol Digit: SendableMetatype { static var next: any Digit.Type { get } }
private enum D0: Digit { static var next: any Digit.Type { D1.self } }
private enum D1: Digit { static var next: any Digit.Type { D2.self } }
private enum D2: Digit { static var next: any Digit.Type { D3.self } }
private enum D3: Digit { static var next: any Digit.Type { D4.self } }
private enum D4: Digit { static var next: any Digit.Type { D5.self } }
private enum D5: Digit { static var next: any Digit.Type { D6.self } }
private enum D6: Digit { static var next: any Digit.Type { D7.self } }
private enum D7: Digit { static var next: any Digit.Type { D8.self } }
private enum D8: Digit { static var next: any Digit.Type { D9.self } }
private enum D9: Digit { static var next: any Digit.Type { D0.self } }

private protocol Linkable: Sendable {
  static func register(needing next: any Linkable.Type, in registry: InitializerRegistry)
}

private struct Link<First: Digit, Second: Digit, Third: Digit, Fourth: Digit>: Linkable {
  static func register(needing next: any Linkable.Type, in registry: InitializerRegistry) {
    func register<Next: Linkable>(_: Next.Type) {
      registry.register(Self.self, .autowire({ (_: Next) in Self() }))
    }
    register(next)
  }
}

private func linkTypes() -> [any Linkable.Type] {
  func make<A: Digit, B: Digit, C: Digit, D: Digit>(
    _: A.Type, _: B.Type, _: C.Type, _: D.Type
  ) -> any Linkable.Type { Link<A, B, C, D>.self }
  let digits: [any Digit.Type] = (0..<9).reduce(into: [D0.self]) { digits, _ in
    digits.append((digits.last ?? D0.self).next)
  }
  var types: [any Linkable.Type] = []
  for a in digits {
    for b in digits { for c in digits { for d in digits { types.append(make(a, b, c, d)) } } }
  }
  return types
}
