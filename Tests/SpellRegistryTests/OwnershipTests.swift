import SpellRegistry
import TestSupport
import Testing

/// An object whose property asks the registry that was current when the object was made.
///
/// `@unchecked Sendable`: no code assigns the wrapped property; its storage's atomic `gate` guards it.
private final class Page: @unchecked Sendable {
  @Spell var label: String
  let madeIn = InitializerRegistry.current
}

/// `@unchecked Sendable`: no code assigns the wrapped property; its storage's atomic `gate` guards it.
private final class Label: @unchecked Sendable {
  @Spell var text: String
}

extension InjectionKeys {
  fileprivate static let label = InjectionKey { Label() }
  fileprivate static let greeting = InjectionKey(
    .factory { (resolver, count: Int) in
      Array(repeating: try resolver.resolve(String.self), count: count).joined(separator: " ")
    })
}

@Suite("A registry owns what it makes", .timeLimit(.hang)) struct OwnershipTests {
  let parent = InitializerRegistry()
  let child: InitializerRegistry

  init() {
    child = InitializerRegistry(parent: parent)
    parent.register(String.self) { "parent" }
    child.register(String.self) { "child" }
  }

  enum Kept: CaseIterable { case singleton, weak, cached, expiring }

  private func scope(_ kept: Kept) -> Scope<Page> {
    switch kept {
    case .singleton: .singleton
    case .weak: .weak
    case .cached: .cached(in: ScopeCache("cache"))
    case .expiring: .singleton.expiring(after: .seconds(3600))
    }
  }

  @Test("the value of a key that is overridden doesn't keep the registry, be it an object or a factory")
  func overridden() throws {
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry()
      gone = registry
      registry.register(String.self) { "own" }
      try registry.override(.label) { _ in }
      try registry.override(.greeting) { _ in }
      #expect(try registry.resolve(.label).text == "own")
      #expect(try registry.resolve(.greeting, arguments: 2) == "own own")
    }
    #expect(gone == nil)
  }

  @Test("the properties of what a registry makes ask it, with no run")
  func withNoRun() throws {
    let custom = InitializerRegistry()
    custom.register(String.self) { "custom" }
    custom.register { Page() }
    #expect(try custom.resolve(Page.self).label == "custom")
    #expect(try custom.resolve(Page.self).madeIn === custom)
    #expect(InitializerRegistry.current === InitializerRegistry.shared)
  }

  @Test(
    "what a child overrides never ends up in a value that its parent keeps, whichever of them is asked",
    arguments: Kept.allCases, [true, false])
  func kept(_ kept: Kept, asksChild: Bool) throws {
    parent.register(Page.self, scope: scope(kept)) { Page() }
    let page = try asksChild ? child.resolve(Page.self) : child.run { try parent.resolve(Page.self) }
    #expect(page.label == "parent")
    #expect(try parent.resolve(Page.self) === page)
  }

  @Test("a dependency of a kept value comes from the registry that keeps it, even through the current registry")
  func keptDependencies() throws {
    parent.register([String].self, scope: .singleton) { [try InitializerRegistry.current.resolve(String.self)] }
    #expect(try child.run { try child.resolve([String].self) } == ["parent"])
  }

  @Test("what isn't kept asks the registry that was asked")
  func unique() throws {
    parent.register { Page() }
    parent.register(Page.self, named: "graph", scope: .graph) { Page() }
    #expect(try child.resolve(Page.self).label == "child")
    #expect(try parent.resolve(Page.self).label == "parent")
    #expect(try child.resolve(Page.self, named: "graph").label == "child")
    #expect(try child.resolve(Page?.self)?.label == "child")
    #expect(try child.resolveAll(Page.self).map(\.label) == ["child", "child"])
  }

  @Test("what isn't kept asks the registry that was asked, not the one that is current there")
  func uniqueInRun() throws {
    parent.register { Page() }
    #expect(try child.run { try parent.resolve(Page.self).label } == "parent")
  }

  @Test("initializers for a container, with arguments, autowired and of an Optional run with their registry current")
  func kinds() throws {
    parent.register(Page.self, .in(Clock.self) { _ in Page() })
    parent.register(ArgumentFactory<Page, Int>.self, .factory { _, _ in Page() })
    parent.register([Page].self, .autowire({ (page: Page?) in [Page()] + (page.map { [$0] } ?? []) }))
    parent.register(Page?.self, scope: .singleton) { Page() }
    #expect(try child.resolve(Page.self, in: Clock()).label == "child")
    #expect(try child.resolve(Page.self, arguments: 1).label == "child")
    #expect(try child.resolve([Page].self).map(\.label) == ["child", "parent"])
  }

  @Test("async initializers run with their registry current")
  func async() async throws {
    parent.register(
      Page.self,
      .async {
        await Task.yield()
        return Page()
      })
    #expect(try await child.resolveAsync(Page.self).label == "child")
    #expect(try await child.run { try await parent.resolveAsync(Page.self).label } == "parent")
    parent.register(
      Page.self, scope: .singleton,
      .async {
        await Task.yield()
        return Page()
      })
    #expect(try await child.run { try await child.resolveAsync(Page.self).label } == "parent")
  }

  @Test("main-actor initializers run with their registry current")
  func mainActor() async throws {
    parent.register(Page.self, .onMainActor { _ in Page() })
    #expect(try await child.resolveAsync(Page.self).label == "child")
    parent.register(Page.self, scope: .singleton, .onMainActor { _ in Page() })
    #expect(try await child.run { try await child.resolveAsync(Page.self).label } == "parent")
  }

  @Test("a property's initializer runs with the property's registry current")
  func property() {
    final class Holder { @Spell var page: Page }
    parent.register { Page() }
    let (inChild, inParent) = (child.run { Holder() }, parent.run { Holder() })
    #expect(inChild.page.label == "child")
    #expect(child.run { inParent.page.label } == "parent")
  }

  @Test("the registry that was current before is current again after an initializer, one that throws too")
  func afterwards() {
    parent.register(Int.self) { throw Offline() }
    child.run {
      #expect(parent.error(resolving: Int.self) != nil)
      #expect(InitializerRegistry.current === child)
    }
    #expect(InitializerRegistry.current === InitializerRegistry.shared)
  }

  @Test("an initializer that gets its resolver's registry finds it current")
  func resolver() throws {
    let seen = Shared<[Bool]>([])
    for (name, scope) in [("unique", Scope<Ticket>.unique), ("singleton", .singleton)] {
      parent.register(Ticket.self, named: .equal(to: name), scope: scope) { resolver in
        seen.update { $0.append(resolver.registry === InitializerRegistry.current) }
        return Ticket(1)
      }
      _ = try child.resolve(Ticket.self, named: name)
    }
    #expect(seen.value == [true, true])
  }

  @Test("a task that an initializer starts has the task's registry, unless its registry runs it")
  func tasks() async throws {
    let seen = Shared<[Task<InitializerRegistry, Never>]>([])
    parent.register(Ticket.self) { resolver in
      let tasks = [
        Task { InitializerRegistry.current }, resolver.registry.run { Task { InitializerRegistry.current } },
      ]
      seen.update { $0 = tasks }
      return Ticket(1)
    }
    _ = try child.run { try parent.resolve(Ticket.self) }
    #expect(await seen.value[0].value === child)
    #expect(await seen.value[1].value === parent)
  }
}
