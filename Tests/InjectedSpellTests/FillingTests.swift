import InjectedSpell
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

private class Page: InjectionObserver, PostInjectable {
  @Injected var tracker: any Tracker
  @Injected private var hidden: BaseTracker
  @Injected var optional: Clock?
  @Injected(.everyRead) var always: any Tracker
  @Injected(.weak) var weakly: Clock?
  var log: [String] = []
  var inner: BaseTracker { hidden }
  func didInject(_ value: Any, intoProperty name: String) { log.append(name) }
  func postInject() { log.append("post") }
}
private final class SubPage: Page {
  @Injected var last: Clock
}

private final class Related {
  @Injected(onInjection: Related.hear) var first: BaseTracker
  @Injected(onInjection: Related.hear) var second: FileTracker
  var seen: [Bool] = []
  func hear(_ tracker: BaseTracker) { seen.append($first.hasValue && $second.hasValue) }
  func hear(_ tracker: FileTracker) { seen.append($first.hasValue && $second.hasValue) }
}

@Suite("Filling an object from a registry", .registry, .timeLimit(.hang)) struct FillingTests {
  private var registry: InitializerRegistry { .current }

  private func registerAll() {
    registry.register((any Tracker).self) { FileTracker("protocol") }
    registry.register { BaseTracker("class") }
    registry.register { Clock() }
  }

  @Test("filling creates every value and then calls the object")
  func makesEveryValueThenTellsTheObject() throws {
    registerAll()
    let page = SubPage()
    try registry.inject(into: page)
    #expect(page.log == ["tracker", "hidden", "optional", "last", "post"])
    #expect(page.inner.label == "class")
    #expect(page.$tracker.hasValue && page.$optional.hasValue && page.$last.hasValue)
    #expect(!page.$always.hasValue && !page.$weakly.hasValue)
  }

  @Test("filling changes nothing if one value is missing")
  func changesNothingWhereOneValueIsMissing() throws {
    registry.register((any Tracker).self) { FileTracker() }
    registry.register { BaseTracker() }
    let page = SubPage()
    let error = try #require(throws: InjectionError.self) { try registry.inject(into: page) }
    #expect(error.code == .notRegistered)
    #expect(error.description.contains("SubPage.last"))
    #expect(page.log == [])
    #expect(!page.$tracker.hasValue)
  }

  @Test("filling changes nothing if an initializer throws")
  func changesNothingWhereAnInitializerThrows() throws {
    struct Refusal: Error {}
    registerAll()
    registry.register(Clock.self, named: "last", .in(SubPage.self) { _ in throw Refusal() })
    let page = SubPage()
    let error = try #require(throws: InjectionError.self) { try registry.inject(into: page) }
    #expect(error.underlying is Refusal)
    #expect(page.log == [])
    #expect(!page.$tracker.hasValue)
  }

  @Test("filling leaves existing values and Optionals that are not registered")
  func leavesValuesThatAreThereAndOptionalsThatNobodyMakes() throws {
    registry.register((any Tracker).self) { FileTracker("registered") }
    registry.register { BaseTracker("registered") }
    let page = Page()
    let mine = FileTracker("mine")
    page.tracker = mine
    try registry.inject(into: page)
    #expect(page.tracker === mine)
    #expect(page.optional == nil)
    #expect(page.log == ["hidden", "post"])
  }

  @Test("filling asks the registry that fills, not the object's own")
  func asksTheRegistryThatFillsNotTheObjectsOwn() throws {
    registerAll()
    let other = InitializerRegistry(parent: registry)
    other.register { BaseTracker("other") }
    let page = Page()
    try other.inject(into: page)
    #expect(page.inner.label == "other")
  }

  @Test("filling passes the object to an initializer")
  func givesAnInitializerTheObject() throws {
    registerAll()
    registry.register(BaseTracker.self, .in(Page.self) { BaseTracker("for \(type(of: $0))") })
    let page = Page()
    try registry.inject(into: page)
    #expect(page.inner.label == "for Page")
  }

  @Test("filling calls hooks when every property has its value")
  func callsHooksWhenEveryPropertyHasItsValue() throws {
    registry.register { BaseTracker() }
    registry.register { FileTracker() }
    let related = Related()
    try registry.inject(into: related)
    #expect(related.seen == [true, true])
  }

  @Test("filling works on an actor from within")
  func worksOnAnActorFromWithin() async throws {
    actor Worker {
      @Injected var clock: Clock
      func fill(from registry: InitializerRegistry) throws -> Bool {
        try registry.inject(into: self)
        return $clock.hasValue
      }
    }
    registerAll()
    #expect(try await Worker().fill(from: registry))
  }

  @Test("filling an object without injected properties throws")
  func ofAnObjectWithoutInjectedPropertiesThrows() throws {
    final class Plain { var number = 1 }
    let error = try #require(throws: InjectionError.self) { try registry.inject(into: Plain()) }
    #expect(error.code == .noInjectableProperties)
    #expect(error.description.contains("Plain"))
    #expect(error.description.contains("custom mirror"))
  }

  @Test("filling an object that needs itself throws")
  func thatNeedsItselfThrows() throws {
    registerAll()
    registry.register(
      BaseTracker.self,
      .in(Page.self) { page in
        try InitializerRegistry.current.inject(into: page)
        return BaseTracker()
      })
    let error = try #require(throws: InjectionError.self) { try registry.inject(into: Page()) }
    #expect(error.code == .cycle)
  }

  @Test("filling an object from the initializer of one of its properties changes nothing")
  func fromAnInitializerOfItsPropertyChangesNothing() throws {
    final class Pair {
      @Injected var first: Clock
      @Injected var second: BaseTracker
    }
    let other = InitializerRegistry()
    other.register { Clock() }
    other.register { BaseTracker("other") }
    let error = Mutex<InjectionError?>(nil)
    registry.register(
      BaseTracker.self,
      .in(Pair.self) { pair in
        error.withLock { error in
          do throws(InjectionError) { try other.inject(into: pair) } catch let thrown { error = thrown }
        }
        #expect(!pair.$first.hasValue)
        return BaseTracker("own")
      })
    let pair = Pair()
    #expect(pair.second.label == "own")
    #expect(error.withLock { $0?.code } == .cycle)
    #expect(!pair.$first.hasValue)
  }

  @Test("filling keeps the object no longer than it takes")
  func keepsTheObjectNoLonger() throws {
    registerAll()
    var page: Page? = Page()
    weak let gone = page
    try registry.inject(into: #require(page))
    page = nil
    #expect(gone == nil)
  }
}

@Suite("Hooks", .registry, .timeLimit(.hang)) struct HookTests {
  private class Screen {
    var log: [String] = []
    @Injected(onInjection: { (screen: Screen, tracker) in screen.log.append("closure \(tracker.label)") })
    var closure: any Tracker
    @Injected(onInjection: Screen.hear) var method: any Tracker
    func hear(_ tracker: any Tracker) { log.append("method \(tracker.label)") }
  }
  private final class SubScreen: Screen, InjectionObserver {
    func didInject(_ value: Any, intoProperty name: String) { log.append("observer \(name)") }
  }
  private actor Worker: InjectionObserver {
    @Injected var clock: Clock
    var heard: [String] = []
    nonisolated func didInject(_ value: Any, intoProperty name: String) {
      assumeIsolated { $0.heard.append(name) }
    }
  }
  private var registry: InitializerRegistry { .current }

  @Test("hooks are called in order once for each injection")
  func areCalledInOrderOnceForEachInjection() {
    registry.register((any Tracker).self) { FileTracker("file") }
      .onInjection { _, point in (point.container as? Screen)?.log.append("registration") }
    let screen = SubScreen()
    _ = screen.closure
    _ = screen.closure
    _ = screen.method
    #expect(
      screen.log == [
        "registration", "closure file", "observer closure", "registration", "method file", "observer method",
      ])
  }

  @Test("hooks are not called for an assignment")
  func areNotCalledForAnAssignment() {
    let screen = SubScreen()
    screen.closure = FileTracker()
    _ = screen.closure
    #expect(screen.log == [])
  }

  @Test("hooks of an actor are called on the actor")
  func ofAnActorAreCalledOnIt() async {
    registry.register { Clock() }
    let worker = Worker()
    _ = await worker.clock
    #expect(await worker.heard == ["clock"])
  }

  @Test("a hook for another class stops the program with a message")
  func forAnotherClassStopTheProgramWithASentence() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Stranger {
        @Injected(onInjection: { (_: Clock, _) in }) var tracker: BaseTracker
      }
      InitializerRegistry.shared.register { BaseTracker() }
      _ = Stranger().tracker
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("A property of type BaseTracker in Stranger has a hook for Clock"))
    #expect(message.contains("FillingTests.swift:"))
    #expect(message.contains("Write the hook for the class that declares the property"))
  }

  @Test("hooks are called once under a race")
  func areCalledOnceUnderARace() async {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Shared: @unchecked Sendable, InjectionObserver {
      let heard = Counter()
      @Injected var clock: Clock
      func didInject(_ value: Any, intoProperty name: String) { heard.increment() }
    }
    let made = Counter()
    registry.register(Clock.self) {
      made.increment()
      return Clock()
    }
    let all = (0..<50).map { _ in Shared() }
    let seen = await race(1_000) { index in (index % 50, ObjectIdentifier(all[index % 50].clock)) }
    #expect(all.map(\.heard.value) == Array(repeating: 1, count: 50))
    #expect(made.value == 50)
    #expect(Set(seen.map(\.1)).count == 50)
  }

  @Test("the hooks of the registry that fills an object, or that a read asks, are called")
  func registryHooks() throws {
    final class Screen {
      @Injected var clock: Clock
      @Injected(.everyRead) var current: Clock
    }
    let (own, filling, asked) = (Counter(), Counter(), Counter())
    let home = InitializerRegistry()
    home.onInjection { _, _ in own.increment() }
    let screen = home.run { Screen() }
    let other = InitializerRegistry()
    other.register { Clock() }
    other.onInjection { _, _ in filling.increment() }
    try other.inject(into: screen)
    #expect(filling.value == 1)
    let request = other.child { $0.register { Clock() } }
    request.onInjection { _, _ in asked.increment() }
    request.run { _ = screen.current }
    #expect(asked.value == 1)
    #expect(own.value == 0)
  }
}
