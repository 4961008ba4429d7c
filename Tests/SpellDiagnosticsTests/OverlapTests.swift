import SpellDiagnostics
import SpellRegistry
import Testing

@Suite("validate() on scopes and overlaps") struct OverlapTests {
  final class Session: Sendable {}
  final class Page: Sendable { init(_: Session) {} }
  final class App: Sendable { init(_: Page) {} }

  let registry = InitializerRegistry()
  let cache = ScopeCache("session")

  private func errors(_ code: InjectionError.Code) -> [InjectionError] {
    registry.validate().filter { $0.code == code }
  }

  @Test("a singleton that holds a value of a cache is reported, even through a unique one")
  func capture() {
    let line: UInt = #line + 1
    registry.register(App.self, scope: .singleton, .autowire(App.init))
    registry.register(Page.self, .autowire(Page.init))
    registry.register(Session.self, scope: .cached(in: cache)) { Session() }
    #expect(errors(.scopeCapture).map(\.path) == [["App", "Page", "Session"]])
    #expect(
      errors(.scopeCapture).first?.description == """
        App (singleton) holds Session (cached in session) for longer than its scope keeps it. Give App a shorter scope \
        or Session a longer one, or let App ask at each read: let current = Injected<OverlapTests.Session>(.everyRead), current.value
          Path: App → Page → Session
            App: registered at SpellDiagnosticsTests/OverlapTests.swift:\(line)
            Page: registered at SpellDiagnosticsTests/OverlapTests.swift:\(line + 1)
            Session: registered at SpellDiagnosticsTests/OverlapTests.swift:\(line + 2)
        """)
  }

  @Test("a singleton that holds a factory isn't reported for the scope of the factory's values")
  func factory() {
    final class Hotel: Sendable { init(_: ArgumentFactory<Session, Int>) {} }
    registry.register(Hotel.self, scope: .singleton, .autowire(Hotel.init))
    registry.register(.factory(scope: .cached(in: cache)) { (_, _: Int) in Session() })
    #expect(errors(.scopeCapture).isEmpty)
  }

  @Test("an instance of a child that wins over its parent's registration isn't reported")
  func childInstance() throws {
    struct Item: CustomStringConvertible, Sendable { let description: String }
    registry.register((any CustomStringConvertible & Sendable).self) { Item(description: "parent") }
    let child = InitializerRegistry(parent: registry)
    child.register(.instance(Item(description: "child"), as: .anySupertype))
    #expect(try child.resolve((any CustomStringConvertible & Sendable).self).description == "child")
    #expect(child.validate().isEmpty)
  }

  @Test(
    "which scope may hold which",
    arguments: [
      ("unique", "cached", true), ("singleton", "unique", true), ("singleton", "singleton", true),
      ("singleton", "graph", false), ("singleton", "weak", false), ("singleton", "cached", false),
      ("singleton", "expiring", false), ("weak", "singleton", true), ("weak", "weak", true), ("weak", "cached", false),
      ("weak", "graph", false), ("cached", "cached", true), ("cached", "other cache", false),
      ("cached", "graph", false),
      ("graph", "cached", true),
    ])
  func holders(holder: String, held: String, isFine: Bool) {
    func scope<Value: Sendable>(_ name: String, _: Value.Type) -> Scope<Value> {
      switch name {
      case "unique": .unique
      case "graph": .graph
      case "weak": .weak
      case "cached": .cached(in: cache)
      case "other cache": .cached(in: ScopeCache("other"))
      case "expiring": .singleton.expiring(after: .seconds(1))
      default: .singleton
      }
    }
    registry.register(Page.self, scope: scope(holder, Page.self), .autowire(Page.init))
    registry.register(Session.self, scope: scope(held, Session.self)) { Session() }
    #expect(errors(.scopeCapture).isEmpty == isFine)
  }

  @Test("a contained name that a newer, more general one covers can never win")
  func shadowed() {
    registry.register(Int.self, named: .containing("readTimeout")) { 1 }
    registry.register(Int.self, named: .containing("TIMEOUT")) { 2 }
    #expect((try? registry.resolve(Int.self, named: "readTimeout")) == 2)
    let error = errors(.shadowed).first
    #expect(errors(.shadowed).count == 1)
    #expect(error?.description.contains("Int named .containing(\"readTimeout\")") == true)
    #expect(error?.description.contains("Register the more special one last") == true)
    #expect(errors(.ambiguous).isEmpty)
  }

  @Test("a special name that is registered last is neither shadowed nor ambiguous")
  func special() {
    registry.register(Int.self, named: .containing("timeout")) { 2 }
    registry.register(Int.self, named: .containing("readTimeout")) { 1 }
    #expect(registry.validate().isEmpty)
  }

  @Test("two contained names that one property may have both of are ambiguous")
  func ambiguousNames() {
    registry.register(Int.self, named: .containing("read")) { 1 }
    registry.register(Int.self, named: .containing("timeout")) { 2 }
    registry.register(String.self, named: .containing("other")) { "" }
    registry.register(Int.self, named: .equal(to: "readTimeout")) { 3 }
    #expect(errors(.ambiguous).count == 1)
    #expect(errors(.ambiguous).first?.description.contains("a name with both parts in it") == true)
  }

  @Test("two instances that would serve a dependency are ambiguous, and one that is registered exactly is not")
  func ambiguousInstances() {
    registry.register(.instance("text", as: .anySupertype))
    registry.register(.instance(7, as: .anySupertype))
    registry.register(Bool.self, .autowire({ (value: any CustomStringConvertible) in value.description.isEmpty }))
    #expect(errors(.ambiguous).first?.description.contains("any CustomStringConvertible") == true)
    registry.register((any CustomStringConvertible).self) { 8 }
    #expect(errors(.ambiguous).isEmpty)
  }

  @Test("factories for arguments of different types don't overlap, and those for arguments of one type do")
  func arguments() {
    func problems<Other>(_ other: Other.Type) -> [InjectionError.Code] {
      let registry = InitializerRegistry()
      registry.register(named: .containing("in"), .factory { (_, number: Int) in Ticket(number) })
      registry.register(named: .containing("out"), .factory { (_, _: Other) in Ticket(0) })
      return registry.validate().map(\.code)
    }
    #expect(problems(String.self).isEmpty)
    #expect(problems(Int.self) == [.ambiguous])
  }
}
