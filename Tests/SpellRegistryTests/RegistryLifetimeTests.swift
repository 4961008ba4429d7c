import SpellRegistry
import Support
import TestSupport
import Testing

private final class Service: Sendable {
  let farewell: Farewell
  init(_ farewell: Farewell) { self.farewell = farewell }
}
/// A service whose property asks the registry that keeps the service.
///
/// `@unchecked Sendable`: no code assigns the wrapped property; its storage's atomic `gate` guards it.
private final class Asking: @unchecked Sendable {
  @Spell var service: Service
}

@Suite("A registry is released with what it holds", .timeLimit(.hang)) struct RegistryLifetimeTests {
  /// Makes 200 registries, calls `use` to register or resolve a service in each, and returns the number of services
  /// that are left.
  private func left(_ use: (InitializerRegistry, Counter) throws -> Void) rethrows -> Int {
    let (made, gone) = (Counter(), Counter())
    for _ in 0..<200 {
      let registry = InitializerRegistry()
      registry.register(Service.self, scope: .singleton) {
        made.increment()
        return Service(Farewell { gone.increment() })
      }
      registry.register(Asking.self, scope: .singleton) { Asking() }
      try use(registry, made)
    }
    #expect(made.value == 200)
    return made.value - gone.value
  }

  @Test("that made a singleton, inside its run and outside", arguments: [true, false])
  func plain(inRun: Bool) throws {
    let left = try left { registry, _ in
      _ = try inRun ? registry.run { try registry.resolve(Service.self) } : registry.resolve(Service.self)
    }
    #expect(left == 0)
  }

  @Test("that made a singleton whose property asks it, inside its run and outside", arguments: [true, false])
  func asking(inRun: Bool) throws {
    let left = try left { registry, _ in
      let asking = try inRun ? registry.run { try registry.resolve(Asking.self) } : registry.resolve(Asking.self)
      _ = asking.service
    }
    #expect(left == 0)
  }

  @Test("that was emptied inside its run")
  func removeAll() throws {
    let left = try left { registry, _ in
      _ = try registry.run { try registry.resolve(Asking.self).service }
      registry.removeAll()
    }
    #expect(left == 0)
  }

  @Test("that was given an instance made inside its run, whose property asks it")
  func instance() {
    let left = left { registry, _ in
      let asking = registry.run {
        let asking = Asking()
        registry.register(named: "mine", .instance(asking))
        return asking
      }
      _ = asking.service
    }
    #expect(left == 0)
  }

  @Test("that has a parent and was asked for what the parent keeps")
  func child() throws {
    let left = try left { registry, _ in
      let child = InitializerRegistry(parent: registry)
      child.register(Ticket.self, scope: .singleton) { Ticket(1) }
      _ = try child.run { try child.resolve(Asking.self).service }
    }
    #expect(left == 0)
  }

  @Test("that keeps weak, cached and expiring values")
  func scopes() throws {
    let cache = ScopeCache("cache")
    let left = try left { registry, _ in
      registry.register(Asking.self, named: "weak", scope: .weak) { Asking() }
      registry.register(Asking.self, named: "cached", scope: .cached(in: cache)) { Asking() }
      registry.register(Asking.self, named: "old", scope: .singleton.expiring(after: .seconds(60))) { Asking() }
      try registry.run {
        for name in ["weak", "cached", "old"] { _ = try registry.resolve(Asking.self, named: name).service }
      }
    }
    #expect(left == 0)
  }

  @Test("that made an async singleton inside its run")
  func async() async throws {
    let gone = Counter()
    for _ in 0..<200 {
      let registry = InitializerRegistry()
      registry.register(
        Service.self, scope: .singleton,
        .async {
          await Task.yield()
          return Service(Farewell { gone.increment() })
        })
      registry.register(
        Asking.self, scope: .singleton,
        .async { resolver in
          _ = try await resolver.registry.resolveAsync(Service.self)
          return Asking()
        })
      _ = try await registry.run { try await registry.resolveAsync(Asking.self) }.service
    }
    #expect(gone.value == 200)
  }

  @Test("after the last object made in its run, which holds it until then")
  func objects() {
    weak var gone: InitializerRegistry?
    do {
      let page: Asking
      do {
        let registry = InitializerRegistry()
        registry.register { Service(Farewell {}) }
        gone = registry
        page = registry.run { Asking() }
      }
      #expect(gone != nil)
      _ = page.service
    }
    #expect(gone == nil)
  }

  @Test("and a kept object that outlives it stops the program with a sentence when its property is read")
  func outlived() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let asking: Asking
      do {
        let registry = InitializerRegistry()
        registry.register(Asking.self, scope: .singleton) { Asking() }
        asking = try registry.resolve(Asking.self)
      }
      _ = asking.service
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains("The registry that this property of type Service asks is gone."))
    #expect(message.contains("hold the registry for as long as you use the object"))
  }

  /// A service whose completion gives it another service.
  private final class Parent: Sendable {
    let child = Shared<Asking?>(nil)
  }

  @Test(
    "whose singleton's completion gave it an object that asks it, inside its run and outside", arguments: [true, false])
  func completion(inRun: Bool) throws {
    let left = try left { registry, _ in
      registry.register(Parent.self, scope: .singleton) { Parent() }
        .onCompletion { parent, _ in parent.child.update { $0 = Asking() } }
      let parent = try inRun ? registry.run { try registry.resolve(Parent.self) } : registry.resolve(Parent.self)
      _ = try #require(parent.child.value).service
    }
    #expect(left == 0)
  }

  private final class Holder: Sendable {
    let parent: Parent
    init(_ parent: Parent) { self.parent = parent }
  }

  @Test("whose singleton holds a value of scope unique that a completion gave such an object")
  func innerCompletion() throws {
    let left = try left { registry, _ in
      registry.register { Parent() }.onCompletion { parent, _ in parent.child.update { $0 = Asking() } }
      registry.register(Holder.self, scope: .singleton) { Holder(try $0.resolve()) }
      let holder = try registry.run { try registry.resolve(Holder.self) }
      _ = try #require(holder.parent.child.value).service
    }
    #expect(left == 0)
  }

  @Test("after which a property of what it kept can't be read: the projection throws, and says why")
  func orphan() throws {
    let asking = try {
      let registry = InitializerRegistry()
      registry.register(Asking.self, scope: .singleton) { Asking() }
      return try registry.resolve(Asking.self)
    }()
    let error = #expect(throws: InjectionError.self) { try asking.$service.resolve(in: asking) }
    #expect(error?.code == .notRegistered)
    #expect(error?.description.contains("The registry that this property of type Service asks is gone.") == true)
    #expect(error?.description.contains("Asking.service") == true)
  }

  private final class Owner: Sendable { let part = Lock<Asking?>(nil) }

  @Test("whose singleton got a part that asks it from a hook of its registration, inside its run")
  func partFromHook() throws {
    let left = try left { registry, _ in
      registry.register(scope: .singleton) { Owner() }.onInjection { owner, _ in
        let part = Asking()
        owner.part.withLock { $0 = part }
      }
      let owner = try registry.run { try registry.resolve(Owner.self) }
      _ = owner.part.withLock(\.self)?.service
    }
    #expect(left == 0)
  }

  private struct Pack: Sendable { let asking: Asking }

  @Test("that was given, inside its run, what holds an object that asks it", arguments: 0..<6)
  func given(form: Int) {
    let left = left { registry, _ in
      registry.run {
        let asking = Asking()
        switch form {
        case 0: registry.register((any Sendable).self, named: "mine", .instance(asking))
        case 1: registry.register(named: "mine", .instance(Optional(asking)))
        case 2: registry.register(named: "mine", .instance([asking, Asking()]))
        case 3: registry.register(named: "mine", .instance(Pack(asking: asking)))
        case 4: registry.register(named: "mine", .instance({ asking.service } as @Sendable () -> Service))
        default: registry.register(Asking.self, named: "mine") { asking }
        }
        _ = asking.service
      }
    }
    #expect(left == 0)
  }

  @Test("whose singleton holds a graph value that was made for a unique one before")
  func graph() throws {
    let left = try left { registry, _ in
      registry.register(Asking.self, named: "graph", scope: .graph) { Asking() }
      registry.register(Pack.self, scope: .singleton) { Pack(asking: try $0.resolve(named: "graph")) }
      registry.register((Asking, Pack).self) { (try $0.resolve(named: "graph"), try $0.resolve()) }
      let (asking, pack) = try registry.resolve((Asking, Pack).self)
      #expect(pack.asking === asking)
      _ = asking.service
    }
    #expect(left == 0)
  }

  @Test("whose async singleton holds what a unique async initializer made for it")
  func asyncUnique() async throws {
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry()
      gone = registry
      registry.register(
        Asking.self,
        .async {
          await Task.yield()
          return Asking()
        })
      registry.register(Pack.self, scope: .singleton, .async { Pack(asking: try await $0.resolveAsync()) })
      _ = try await registry.resolveAsync(Pack.self)
    }
    // The task that made a value may end a little after the value is available.
    while gone != nil, !Task.isCancelled { await Task.yield() }
    #expect(gone == nil)
  }

  @Test("although its tasks start one another in their own registries without end")
  func chainOfTasks() async {
    let (root, gone) = (InitializerRegistry(), Counter())
    let (left, last) = AsyncStream.makeStream(of: Int.self)
    @Sendable func turn(_ number: Int) {
      if number == 200 {
        last.yield(number - gone.value)
        return last.finish()
      }
      let (none, over) = AsyncStream.makeStream(of: Never.self)
      let child = root.child { $0.register(.instance(Service(Farewell { gone.increment() }))) }
      child.run {
        _ = Task {
          // The run that started this task is over.
          for await _ in none {}
          turn(number + 1)
        }
      }
      over.finish()
    }
    turn(0)
    for await count in left { #expect(count < 20) }
  }
}
