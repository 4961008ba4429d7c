import SpellRegistry
import TestSupport
import Testing

private final class A: Sendable { init(_: B) {} }
private final class B: Sendable { init(_: C) {} }
private final class C: Sendable { init(_: A) {} }

@Suite("Cycles in one thread", .timeLimit(.hang)) struct CycleTests {
  let registry = InitializerRegistry()

  private enum Kind: CaseIterable { case unique, graph, singleton, cached, weak }

  private func scope<Value: Sendable>(_ kind: Kind, of _: Value.Type) -> Scope<Value> {
    switch kind {
    case .unique: .unique
    case .graph: .graph
    case .singleton: .singleton
    case .cached: .cached(in: ScopeCache("cache"))
    case .weak: .weak
    }
  }

  @Test("three initializers that need each other are an error with the whole cycle, in any scopes")
  func scopes() {
    for first in Kind.allCases {
      for second in Kind.allCases {
        for third in Kind.allCases {
          registry.register(A.self, scope: scope(first, of: A.self), .autowire(A.init))
          registry.register(B.self, scope: scope(second, of: B.self), .autowire(B.init))
          registry.register(C.self, scope: scope(third, of: C.self), .autowire(C.init))
          let error = registry.error(resolving: A.self)
          #expect(error?.code == .cycle, "\(first), \(second), \(third)")
          #expect(error?.path == ["A", "B", "C", "A"], "\(first), \(second), \(third)")
        }
      }
    }
  }

  @Test("the path leads to the cycle, and the message shows only the cycle as one")
  func entrance() throws {
    registry.register([A].self) { [try $0.resolve()] }
    registry.register(A.self, .autowire(A.init))
    registry.register(B.self, .autowire(B.init))
    registry.register(C.self, .autowire(C.init))
    let error = try #require(registry.error(resolving: [A].self))
    #expect(error.path == ["Array<A>", "A", "B", "C", "A"])
    #expect(error.description.hasPrefix("The initializer of A needs its own result: A → B → C → A."))
    #expect(error.description.split(separator: "\n").count { $0.contains(" A: registered at") } == 1)
  }

  @Test("an initializer that needs itself is the shortest cycle")
  func itself() {
    registry.register(Clock.self) { try $0.resolve() }
    #expect(registry.error(resolving: Clock.self)?.path == ["Clock", "Clock"])
    registry.register(Clock.self, scope: .singleton) { try $0.resolve() }
    #expect(registry.error(resolving: Clock.self)?.path == ["Clock", "Clock"])
  }

  @Test("plain closures that call the registry form a cycle, too")
  func closures() {
    let registry = registry
    registry.register(Int.self) { try registry.resolve(String.self).count }
    registry.register(String.self, scope: .singleton) { "\(try registry.resolve(Int.self))" }
    #expect(registry.error(resolving: Int.self)?.path == ["Int", "String", "Int"])
    #expect(registry.error(resolving: String.self)?.path == ["String", "Int", "String"])
  }

  @Test("a cycle may go through an Optional")
  func optional() {
    registry.register(Int.self) { try $0.resolve(Int?.self) ?? 0 }
    let error = registry.error(resolving: Int.self)
    #expect(error?.code == .cycle)
    #expect(error?.path.first == "Int")
    #expect(error?.path.count == 2)
  }

  @Test("a cycle may go through resolveAll")
  func all() {
    registry.register((any Tracker).self, named: "all") {
      FileTracker("\(try $0.resolveAll((any Tracker).self).count)")
    }
    #expect(registry.error(resolving: (any Tracker).self, named: "all")?.code == .cycle)
    #expect(throws: InjectionError.self) { try registry.resolveAll((any Tracker).self) }
  }

  @Test("a cycle may go through a child registry and back")
  func children() {
    let child = InitializerRegistry(parent: registry)
    registry.register(Int.self) { try child.resolve(String.self).count }
    child.register(String.self) { "\(try $0.resolve(Int.self))" }
    // The first Int is made for the parent, and the second for the child. Only the second one is reached again.
    #expect(registry.error(resolving: Int.self)?.path == ["Int", "String", "Int", "String"])
  }

  @Test("a cycle may go through two unrelated registries")
  func unrelated() {
    let (one, two) = (InitializerRegistry(), InitializerRegistry())
    one.register(Int.self, scope: .singleton) { try two.resolve(String.self).count }
    two.register(String.self, scope: .singleton) { "\(try one.resolve(Int.self))" }
    #expect(one.error(resolving: Int.self)?.path == ["Int", "String", "Int"])
  }

  @Test("a cycle may go through a property")
  func property() {
    final class Page {
      @Spell var number: Int
      init() {}
    }
    let registry = registry
    registry.register(
      Int.self,
      .in(Page.self) { page in
        do throws(InjectionError) { return try page.$number.resolve(in: page) } catch {
          throw error
        }
      })
    let page = registry.run { Page() }
    let error = #expect(throws: InjectionError.self) { try page.$number.resolve(in: page) }
    #expect(error?.code == .cycle)
    #expect(error?.path == ["Int", "Int"])
    #expect(error?.description.contains("Page.number") == true)
    #expect(!page.$number.hasValue)
  }

  @Test("one registration may ask itself for another name or another container")
  func otherPlaces() throws {
    registry.register(Int.self) { resolver in
      guard let rest = resolver.point.propertyName, !rest.isEmpty else { return 0 }
      return try resolver.resolve(Int.self, named: String(rest.dropFirst())) + 1
    }
    #expect(try registry.resolve(Int.self, named: "twelve chars") == 12)
  }

  @Test("an error of a cycle that the initializer catches isn't a failure, and leaves the cycle breakable")
  func caught() throws {
    registry.register(Int.self, scope: .singleton) { (try? $0.resolve(Int.self)) ?? 7 }
    #expect(try registry.resolve(Int.self) == 7)
    #expect(try registry.resolve(Int.self) == 7)
  }

  @Test("after a cycle is broken by another registration everything resolves")
  func repaired() throws {
    registry.register(Int.self, scope: .singleton) { try $0.resolve(String.self).count }
    registry.register(String.self, scope: .singleton) { "\(try $0.resolve(Int.self))" }
    #expect(registry.error(resolving: Int.self)?.code == .cycle)
    registry.register(String.self) { "four" }
    #expect(try registry.resolve(Int.self) == 4)
  }

  @Test("a cycle among keys of one type has each of them")
  func keysOfOneType() throws {
    let error = #expect(throws: InjectionError.self) { try registry.resolve(.ring1) }
    #expect(error?.description.contains("needs its own result: String → String → String → String.") == true)
  }

  @Test("a cycle among names of one type, registered at one place, has each of them")
  func namesOfOneType() throws {
    for (name, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
      registry.register(Int.self, named: .equal(to: name)) { try $0.resolve(Int.self, named: next) }
    }
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Int.self, named: "a") }
    #expect(error?.description.contains("needs its own result: Int → Int → Int → Int.") == true)
  }
}

extension InjectionKeys {
  fileprivate static let ring1: InjectionKey<String> = InjectionKey { try $0.resolve(.ring2) }
  fileprivate static let ring2: InjectionKey<String> = InjectionKey { try $0.resolve(.ring3) }
  fileprivate static let ring3: InjectionKey<String> = InjectionKey { try $0.resolve(.ring1) }
}
