import SpellRegistry
import TestSupport
import Testing

/// A generic type, of which a test can make any number of specializations.
private final class Box<Content: Sendable>: Sendable {}

@Suite("Looking a type up", .timeLimit(.hang)) struct LookupTests {
  let registry = InitializerRegistry()

  /// Calls `body` with `count` different types.
  private func forEachType(_ count: Int, _ body: (any Sendable.Type) -> Void) {
    func grow<Content: Sendable>(_ content: Content.Type, _ left: Int) {
      guard left > 0 else { return }
      body(Box<Content>.self)
      grow(Box<Content>.self, left - 1)
    }
    grow(Int.self, count)
  }

  @Test("each of many types is found, and none after it is withdrawn")
  func manyTypes() {
    var registrations: [() -> Void] = []
    func register<Value: Sendable>(_ type: Value.Type) {
      let registration = registry.register([Value].self, scope: .singleton) { [] }
      registrations.append { registration.unregister() }
    }
    func count<Value: Sendable>(_ type: Value.Type) -> Int { (try? registry.resolve([Value].self)) == nil ? 0 : 1 }
    var types: [any Sendable.Type] = []
    forEachType(60) { types.append($0) }
    for type in types { register(type) }
    #expect(types.reduce(0) { $0 + count($1) } == 60)
    #expect(types.reduce(0) { $0 + count($1) } == 60)
    for unregister in registrations { unregister() }
    #expect(types.reduce(0) { $0 + count($1) } == 0)
  }

  @Test("a type is found while others come and go on other threads")
  func whileOthersComeAndGo() async {
    let registry = registry
    registry.register(Clock.self, scope: .singleton) { Clock() }
    let results = await onThreads(8) { number -> Int in
      if number < 3 {
        for _ in 0..<40 {
          self.forEachType(20) { type in
            func pass<Value: Sendable>(_ type: Value.Type) { registry.register([Value].self) { [] }.unregister() }
            pass(type)
          }
        }
        return 0
      }
      return (0..<4000).count { _ in (try? registry.resolve(Clock.self)) == nil }
    }
    #expect(results == Array(repeating: 0, count: 8))
  }

  @Test("a value is copied whole while its registration is replaced, reset and withdrawn")
  func whileValuesGo() async {
    let registry = registry
    let cache = ScopeCache("cache")
    let mark = "whole: long enough to lie on the heap"
    registry.register(String.self, scope: .cached(in: cache)) { mark + "!" }
    let torn = await onThreads(6) { number -> Int in
      switch number {
      case 0: for _ in 0..<1500 { cache.reset() }
      case 1:
        for _ in 0..<1500 {
          registry.register(String.self, scope: .cached(in: cache)) { mark + "!" }
        }
      case 2: for _ in 0..<1500 { registry.register(String.self, named: "other") { "" }.unregister() }
      default: return (0..<3000).count { _ in (try? registry.resolve(String.self)) != mark + "!" }
      }
      return 0
    }
    #expect(torn == [0, 0, 0, 0, 0, 0])
  }

  @Test(
    "removeAll is seen whole: where one registration is gone all are, beside an instance of any supertype too",
    arguments: [true, false])
  func removedWhole(withInstance: Bool) async {
    let parent = InitializerRegistry()
    var types: [any Sendable.Type] = []
    forEachType(40) { types.append($0) }
    func register<Value: Sendable>(_ type: Value.Type, _ count: Int, in registry: InitializerRegistry) {
      registry.register([Value?].self) { Array(repeating: nil, count: count) }
    }
    for type in types { register(type, 7, in: parent) }
    for _ in 0..<300 {
      let registry = InitializerRegistry(parent: parent)
      if withInstance { registry.register(.instance(FileTracker(), as: .anySupertype)) }
      for type in types { register(type, 2, in: registry) }
      let meeting = Barrier(of: 2)
      async let removed: Void = onThread {
        meeting.wait()
        registry.removeAll()
      }
      let isWhole = await onThread { [types] () -> Bool in
        func count<Value: Sendable>(_ type: Value.Type) -> Int { (try? registry.resolve([Value?].self))?.count ?? 0 }
        meeting.wait()
        while count(types[0]) != 7 {}
        return types.allSatisfy { count($0) == 7 }
      }
      await removed
      #expect(isWhole)
    }
  }

  @Test("threads that first meet in a registry while another one changes it get whole values")
  func firstMeeting() async {
    let text = "whole: long enough to lie on the heap"
    var wrong = 0
    for _ in 0..<200 {
      let parent = InitializerRegistry()
      let child = InitializerRegistry(parent: parent)
      parent.register(String.self, scope: .singleton) { text + "!" }
      let meeting = Barrier(of: 4)
      let counts = await onThreads(4) { number -> Int in
        meeting.wait()
        if number == 0 {
          for _ in 0..<20 { parent.register(String.self, scope: .singleton) { text + "!" } }
          return 0
        }
        let registry = number == 1 ? parent : child
        return (0..<60).count { _ in (try? registry.resolve(String.self)) != text + "!" }
      }
      wrong += counts.reduce(0, +)
    }
    #expect(wrong == 0)
  }

  @Test("a table that grows, shrinks and is emptied by some threads gives the others what they ask for, or nothing")
  func storm() async {
    let registry = registry
    registry.register(Clock.self, scope: .singleton) { Clock() }
    let parent = InitializerRegistry()
    parent.register(Int.self) { 1 }
    let child = InitializerRegistry(parent: parent)
    let wrong = await onThreads(8) { number -> Int in
      switch number {
      case 0, 1:
        for round in 0..<1_500 {
          self.forEachType(round % 12) { type in
            func add<Value: Sendable>(_ type: Value.Type) { child.register([Value].self, scope: .singleton) { [] } }
            add(type)
          }
          child.register(Int.self, scope: .singleton) { 2 }
          child.register(.instance(Ticket(round), as: .anySupertype))
        }
        return 0
      case 2:
        for _ in 0..<1_500 { child.removeAll() }
        return 0
      case 3:
        for round in 0..<1_500 { child.register(Int.self, named: .equal(to: "\(round % 9)")) { 3 }.unregister() }
        return 0
      default:
        return (0..<6_000).count { round in
          guard let number = try? child.resolve(Int.self, named: round.isMultiple(of: 2) ? nil : "\(round % 9)") else {
            return true
          }
          return !(1...3).contains(number) || (try? registry.resolve(Clock.self)) == nil
        }
      }
    }
    #expect(wrong.allSatisfy { $0 == 0 })
  }

  @Test("a registration for a name is found at every moment while another replaces it")
  func replacedByName() async {
    let registry = registry
    registry.register(Int.self) { 1 }
    registry.register(Int.self, named: "backup") { 2 }
    registry.register(named: "note", .instance("text", as: .anySupertype))
    registry.register(String.self) { "" }
    let wrong = await onThreads(4) { number -> Int in
      if number == 0 {
        for _ in 0..<1500 {
          registry.register(Int.self, named: "backup") { 2 }
          registry.register(named: "note", .instance("text", as: .anySupertype))
        }
        return 0
      }
      return (0..<3000).count { _ in
        (try? registry.resolve(Int.self, named: "backup")) != 2
          || (try? registry.resolve(String.self, named: "note")) != "text"
      }
    }
    #expect(wrong == [0, 0, 0, 0])
  }

  @Test("what is asked for is the type that the caller's code has, not that of the metatype it hands over")
  func subclassMetatype() throws {
    class Service { var name: String { "service" } }
    final class Special: Service { override var name: String { "special" } }
    registry.register(Special.self) { Special() }
    let type: Service.Type = Special.self
    #expect(throws: InjectionError.self) { try registry.resolve(type) }
    registry.register(Service.self) { Service() }
    #expect(try registry.resolve(type).name == "service")
    #expect(try registry.resolveAll(type).map(\.name) == ["service"])
  }

  @Test("what replaces a registration is answered at once, though a value of the older one was kept")
  func replacedAtOnce() throws {
    for number in 1...100 {
      registry.register(Int.self, scope: .singleton) { number }
      #expect(try registry.resolve(Int.self) == number)
      #expect(try registry.resolve(Int.self) == number)
    }
  }

  @Test("a second registration of a type is asked, too, though a value of the first was kept")
  func secondRegistration() throws {
    registry.register(Int.self, scope: .singleton) { 1 }
    #expect(try registry.resolve(Int.self) == 1)
    let named = registry.register(Int.self, named: "two", scope: .singleton) { 2 }
    #expect(try registry.resolve(Int.self, named: "two") == 2)
    #expect(try registry.resolve(Int.self) == 1)
    named.unregister()
    #expect(try registry.resolve(Int.self, named: "two") == 1)
    registry.register(named: "three", .instance(3, as: .anySupertype))
    #expect(try registry.resolve(Int.self, named: "three") == 3)
    #expect(try registry.resolve(Int.self) == 1)
  }

  @Test("a hook that is added after a value was kept is called for the next request")
  func laterHooks() throws {
    let (ofRegistration, ofRegistry) = (Counter(), Counter())
    let registration = registry.register(Int.self, scope: .singleton) { 1 }
    _ = try (registry.resolve(Int.self), registry.resolve(Int.self))
    registration.onInjection { _, _ in ofRegistration.increment() }
    _ = try registry.resolve(Int.self)
    registry.onInjection { _, _ in ofRegistry.increment() }
    _ = try registry.resolve(Int.self)
    #expect(ofRegistration.value == 2)
    #expect(ofRegistry.value == 1)
  }

  @Test("a parent's kept value is found from a child, until the child has its own")
  func inherited() throws {
    let child = InitializerRegistry(parent: registry)
    registry.register(Int.self, scope: .singleton) { 1 }
    #expect(try child.resolve(Int.self) == 1)
    #expect(try child.resolve(Int.self) == 1)
    child.register(Int.self, scope: .singleton) { 2 }
    #expect(try child.resolve(Int.self) == 2)
    #expect(try registry.resolve(Int.self) == 1)
  }

  @Test("a parent's kept Optional comes after what makes its wrapped type in the child")
  func inheritedOptional() throws {
    let child = InitializerRegistry(parent: registry)
    registry.register(Int?.self, scope: .singleton) { 1 }
    #expect(try child.resolve(Int?.self) == 1)
    #expect(try child.resolve(Int?.self) == 1)
    child.register(Int.self, scope: .singleton) { 2 }
    #expect(try child.resolve(Int?.self) == 2)
  }

}
