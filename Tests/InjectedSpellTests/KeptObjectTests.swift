import InjectedSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Leaf: Sendable {}
private final class Middle: Sendable { let leaf = Injected<Leaf>() }
private final class Root: Sendable { let middle = Injected<Middle>() }
/// An object that runs a closure when it is released.
private final class Farewell: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}
private struct User: Sendable { let name: String }
private struct Context: Sendable { let user: User }
private final class Single: Sendable {
  let context: Context
  init(_ context: Context) { self.context = context }
}
private struct Page: Sendable { let single: Single }
private struct Configuration: Sendable { let name: String }
private struct Service: Sendable { let configuration: Configuration }
@Suite("What a registry keeps", .timeLimit(.hang)) struct KeptObjectTests {
  @Test("doesn't keep the registry by what its properties get later", arguments: [false, true])
  func laterProperties(inRun: Bool) throws {
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry()
      registry.register(Root.self, scope: .singleton) { Root() }
      registry.register { Middle() }
      registry.register { Leaf() }
      let read = {
        let root = try registry.resolve(Root.self)
        _ = root.middle.value.leaf.value
      }
      if inRun { try registry.run(read) } else { try read() }
      gone = registry
    }
    #expect(gone == nil)
  }

  @Test("never has a value of scope graph that a child's request made")
  func graph() throws {
    let parent = InitializerRegistry()
    parent.register { User(name: "parent") }
    parent.register(Context.self, scope: .graph) { Context(user: try $0.resolve()) }
    parent.register(Single.self, scope: .singleton) { Single(try $0.resolve()) }
    let child = InitializerRegistry(parent: parent)
    child.register { User(name: "child") }
    child.register(Page.self) {
      #expect(try $0.resolve(Context.self).user.name == "child")
      return Page(single: try $0.resolve())
    }
    #expect(try child.resolve(Page.self).single.context.user.name == "parent")
    #expect(try parent.resolve(Single.self).context.user.name == "parent")
  }

  @Test("may be asked of a parent by an initializer of a child that overrides what it needs")
  func noCycleAcrossRegistries() throws {
    let parent = InitializerRegistry()
    parent.register { Configuration(name: "parent") }
    parent.register { Service(configuration: try $0.resolve()) }
    let child = InitializerRegistry(parent: parent)
    child.register(Configuration.self) {
      Configuration(name: try parent.resolve(Service.self).configuration.name + ", child")
    }
    #expect(try child.resolve(Service.self).configuration.name == "parent, child")
  }

  @Test("keeps the values of its properties when its registry is gone and a type is re-injected")
  func registryIsGone() throws {
    let parent = InitializerRegistry()
    parent.register { Leaf() }
    var child: InitializerRegistry? = InitializerRegistry(parent: parent)
    child?.register(Middle.self, scope: .singleton) { Middle() }
    let middle = try #require(try child?.resolve(Middle.self))
    let leaf = middle.leaf.value
    child = nil
    parent.reinject(String.self)
    #expect(middle.leaf.value === leaf)
  }

  @Test("gets the values of a re-injection while the registry ends")
  func reinjectedAtTheEnd() throws {
    let seen = Shared<[String]>([])
    final class Reader: Sendable {
      let seen: Shared<[String]>
      let text = Injected<String>()
      init(_ seen: Shared<[String]>) { self.seen = seen }
      func read() { seen.update { $0.append(text.value) } }
      deinit { read() }
    }
    func make() throws {
      let registry = InitializerRegistry()
      registry.register(String.self) { "old" }
      registry.register(scope: .singleton) { Reader(seen) }
      try registry.resolve(Reader.self).read()
      registry.register(String.self) { "new" }
      registry.reinject(String.self)
      withExtendedLifetime(registry) {}
    }
    try make()
    #expect(seen.value == ["old", "new"])
  }

  @Test("a hook that assigns its own property leaves the property's name to the hooks after it")
  func assigningHook() {
    final class Observed: InjectionObserver {
      @Injected(onInjection: Observed.didGet) var text: String
      var heard: [String] = []
      func didGet(_ text: String) { self.text = text + "!" }
      func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
    }
    let registry = InitializerRegistry()
    registry.register { "text" }
    let observed = registry.run { Observed() }
    _ = observed.text
    #expect(observed.heard == ["text"])
    #expect(observed.text == "text!")
  }

  @Test("an initializer that assigns the property that it serves leaves the property's name to the observer")
  func assigningInitializer() {
    final class Observed: InjectionObserver {
      @Injected var text: String
      @Injected(.everyRead) var number: Int
      var heard: [String] = []
      func didInject(_ value: Any, intoProperty name: String) { heard.append("\(name): \(value)") }
    }
    let registry = InitializerRegistry()
    registry.register(
      .in(Observed.self) { observed in
        observed.text = "assigned"
        return "made"
      })
    registry.register(
      .in(Observed.self) { observed in
        observed.number = 1
        return 2
      })
    let observed = registry.run { Observed() }
    #expect(observed.text == "made" && observed.number == 2)
    #expect(observed.text == "assigned" && observed.number == 1)
    #expect(observed.heard == ["text: made", "number: 2"])
  }

  @Test("an expired async value whose deinitializer asks for the next one is released with no lock held")
  func expiredAsyncValue() async throws {
    let clock = TestClock()
    let registry = InitializerRegistry(clock: clock)
    registry.register(
      Farewell.self, scope: .singleton.expiring(after: .seconds(1)),
      .async {
        Farewell { _ = try? registry.resolve(Farewell.self) }
      })
    let first = ObjectIdentifier(try await registry.resolveAsync(Farewell.self))
    clock.advance(by: .seconds(5))
    #expect(ObjectIdentifier(try await registry.resolveAsync(Farewell.self)) != first)
    registry.removeAll()
  }

  @Test("a main-actor observer isn't called from elsewhere")
  @MainActor func isolatedObserver() async {
    let heard = Heard()
    let registry = InitializerRegistry()
    registry.register { 3 }
    await Task.detached {
      let page = registry.run { ObservingPage(heard) }
      #expect(page.number == 3)
    }.value
    #expect(heard.count == 0)
    let page = registry.run { ObservingPage(heard) }
    #expect(page.number == 3)
    #expect(heard.count == 1)
  }

  // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
  private final class Number: @unchecked Sendable { @Injected var number: Int }
  // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
  private final class Log: @unchecked Sendable { @Injected(.everyRead) var number: Number }

  @Test("doesn't keep what a request's registry gives its property at one read from keeping that registry")
  func everyRead() throws {
    let registry = InitializerRegistry()
    registry.register(Log.self, scope: .singleton) { Log() }
    registry.register { Number() }
    let log = try registry.resolve(Log.self)
    let number = registry.child { $0.register(Int.self) { 2 } }.run { log.number }
    #expect(number.number == 2)
  }
}

private final class Heard: Sendable {
  @MainActor var count = 0
  init() {}
}
private final class ObservingPage {
  @Injected var number: Int
  let heard: Heard
  init(_ heard: Heard) { self.heard = heard }
}
extension ObservingPage: @MainActor InjectionObserver {
  @MainActor func didInject(_ value: Any, intoProperty name: String) { heard.count += 1 }
}
