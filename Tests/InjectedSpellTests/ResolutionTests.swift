import InjectedSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Page: InjectionObserver {
  @Injected var tracker: any Tracker
  @Injected var clock: Clock?
  @Injected("backup") var second: any Tracker
  @Injected private var hidden: any Tracker
  var inner: any Tracker { hidden }
  var heard: [String] = []
  func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
}
private final class SubPage: Page {
  @Injected private var hidden: any Tracker
  @Injected var exact: FileTracker
  var outer: any Tracker { hidden }
}
private class Shelf<Item> {
  @Injected var items: [Item]
}
private final class BookShelf: Shelf<String> {}

@Suite("An injected property", .registry, .timeLimit(.hang)) struct ResolutionTests {
  private var registry: InitializerRegistry { .current }

  private func label(_ label: String) -> @Sendable () -> any Tracker { { FileTracker(label) } }

  @Test("an injected property asks at the first read and keeps the value")
  func asksAtTheFirstReadAndKeepsTheValue() {
    let asked = Counter()
    registry.register((any Tracker).self) { FileTracker("\(asked.increment())") }
    let page = Page()
    #expect(!page.$tracker.hasValue)
    #expect(asked.value == 0)
    #expect(page.tracker === page.tracker)
    #expect(page.$tracker.hasValue)
    #expect(page.heard == ["tracker"])
    #expect(asked.value == 1)
  }

  @Test("an initializer that throws runs once for one read, and again for the next")
  func anInitializerThatThrowsRunsOnceForOneRead() throws {
    struct Offline: Error {}
    let runs = Counter()
    registry.register(Clock.self) {
      if runs.increment() == 1 { throw Offline() }
      return Clock()
    }
    final class Page { @Injected var clock: Clock }
    let page = Page()
    #expect(throws: InjectionError.self) { try page.$clock.resolve() }
    #expect(runs.value == 1 && !page.$clock.hasValue)
    #expect(page.clock === page.clock)
    #expect(runs.value == 2)
  }

  @Test("a hook that is added while a property's value is made is called for it")
  func aHookThatIsAddedMeanwhileHears() {
    final class Page { @Injected var clock: Clock }
    let (registry, heard) = (InitializerRegistry(), Shared<[String]>([]))
    registry.register(Int.self, scope: .singleton) {
      registry.onInjection { value, point in
        heard.update { $0.append("\(type(of: value)) for \(point.propertyName ?? "-")") }
      }
      return 7
    }
    registry.register(Clock.self) {
      _ = try $0.resolve(Int.self)
      return Clock()
    }
    let page = registry.run { Page() }
    #expect(page.clock === page.clock)
    #expect(heard.value == ["Int for -", "Clock for clock"])
  }

  @Test("an initializer gets the property and the object that a first read is for, with and without a run")
  func anInitializerGetsThePropertyAndTheObject() throws {
    final class Page {
      @Injected var name: String
      @Injected(.everyRead) var everyRead: String
    }
    registry.register(String.self) {
      "\($0.point.propertyName ?? "-") of \($0.point.containerType.map { "\($0)" } ?? "-")"
    }
    let child = registry.child { $0.register(Int.self) { 7 } }
    for page in [Page(), child.run { Page() }] {
      #expect(page.name == "name of Page")
      #expect(page.everyRead == "everyRead of Page")
    }
  }

  @Test("an injected property resolved through its projection has the same value")
  func resolvedThroughItsProjectionHasTheSameValue() throws {
    registry.register((any Tracker).self, label("one"))
    let page = Page()
    let tracker = try page.$tracker.resolve()
    #expect(page.tracker === tracker)
  }

  @Test("an injected property of an Optional type reads nil and asks again")
  func ofAnOptionalTypeReadsNilAndAsksAgain() throws {
    let page = Page()
    #expect(page.clock == nil)
    #expect(try page.$clock.resolve() == nil)
    #expect(!page.$clock.hasValue)
    let clock = Clock()
    registry.register(.instance(clock))
    #expect(page.clock === clock)
    #expect(page.heard == ["clock"])
  }

  @Test("an injected property asks with its own name")
  func asksWithItsOwnName() {
    registry.register((any Tracker).self, label("any"))
    registry.register((any Tracker).self, named: "tracker", label("own name"))
    #expect(Page().tracker.label == "own name")
    #expect(SubPage().tracker.label == "own name")
  }

  @Test("an initializer knows which injected property asks")
  func tellsItsInitializerWhichPropertyAsks() {
    final class Named: Sendable {
      let name: String
      init(_ name: String) { self.name = name }
    }
    class Holder {
      @Injected var first: Named
      @Injected("alias") var second: Named
      @Injected(.everyRead) var third: Named
      @Injected var maybe: Named?
    }
    final class SubHolder: Holder {}
    registry.register(Named.self) { resolver in
      Named("\(resolver.point.containerType.map { "\($0)" } ?? "-").\(resolver.point.propertyName ?? "-")")
    }
    let holder = SubHolder()
    #expect(holder.first.name == "SubHolder.first")
    #expect(holder.second.name == "SubHolder.alias")
    #expect(holder.third.name == "SubHolder.third")
    #expect(holder.maybe?.name == "SubHolder.maybe")
    #expect((try? registry.resolve(Named.self, named: "by hand", in: holder))?.name == "SubHolder.by hand")
  }

  @Test("an injected property has its own name even if one function creates several wrappers")
  func hasItsOwnNameThoughOneFunctionMakesItsWrapperAndOthers() {
    func service() -> Injected<any Tracker> { Injected() }
    final class Holder: InjectionObserver {
      @Injected var first: any Tracker
      @Injected var second: any Tracker
      var heard: [String] = []
      init(_ make: () -> Injected<any Tracker>) { (_first, _second) = (make(), make()) }
      func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
    }
    registry.register((any Tracker).self) { FileTracker($0.point.propertyName ?? "-") }
    registry.register((any Tracker).self, named: "second") { FileTracker("by name: \($0.point.propertyName ?? "-")") }
    for _ in 0..<3 {
      let holder = Holder(service)
      #expect(holder.second.label == "by name: second")
      #expect(holder.first.label == "first")
      #expect(holder.heard == ["second", "first"])
    }
  }

  @Test("an injected property asks with its alias instead of its name")
  func asksWithItsAliasInsteadOfItsName() {
    registry.register((any Tracker).self, named: "second", label("own name"))
    registry.register((any Tracker).self, named: "backup", label("alias"))
    let page = Page()
    #expect(page.second.label == "alias")
    #expect(page.heard == ["second"])
  }

  @Test(
    "an injected property with an alias uses a registration for any name, and before it one for a part of the alias")
  func withAnAliasThatNothingHasTakesAPartOfItOrWhatIsForAnyName() {
    registry.register((any Tracker).self, label("any"))
    #expect(Page().second.label == "any")
    registry.register((any Tracker).self, named: .containing("BACK"), label("part"))
    #expect(Page().second.label == "part")
  }

  @Test("a private injected property is independent of another class's property with its name")
  func thatIsPrivateAndHasANamesakeIsItsOwn() {
    registry.register((any Tracker).self, named: "hidden") { FileTracker("\($0.point.propertyName ?? "")") }
    let page = SubPage()
    #expect(page.inner.label == "hidden")
    #expect(page.outer.label == "hidden")
    #expect(page.inner !== page.outer)
  }

  @Test("a registration for a generic class serves the injected properties of it and its subclass")
  func ofAGenericClassAndItsSubclassIsFoundByItsContainer() {
    registry.register([String].self, .in(BookShelf.self) { _ in ["book"] })
    registry.register([Int].self, .in(Shelf<Int>.self) { _ in [1] })
    #expect(BookShelf().items == ["book"])
    #expect(Shelf<Int>().items == [1])
    #expect(throws: InjectionError.self) { try Shelf<String>().$items.resolve() }
  }

  @Test("an injected property prefers the class, then the name, then the kind, then the newest registration")
  func prefersContainerThenNameThenKindThenTheNewest() {
    registry.register(.instance(FileTracker("instance"), as: .anySupertype))
    #expect(Page().tracker.label == "instance")
    registry.register((any Tracker).self, label("exact"))
    #expect(Page().tracker.label == "exact")
    registry.register((any Tracker).self, named: .containing("rack"), label("part of the name"))
    #expect(Page().tracker.label == "part of the name")
    registry.register((any Tracker).self, named: "tracker", label("name"))
    #expect(Page().tracker.label == "name")
    registry.register((any Tracker).self, .in(Page.self, subclasses: true) { _ in FileTracker("superclass") })
    #expect(SubPage().tracker.label == "superclass")
    registry.register((any Tracker).self, .in(SubPage.self) { _ in FileTracker("class") })
    #expect(SubPage().tracker.label == "class")
    #expect(Page().tracker.label == "superclass")
  }

  @Test("an instance for any supertype serves every supertype that it has")
  func takesAnInstanceForEverySupertypeItHas() {
    final class Wide {
      @Injected var base: BaseTracker
      @Injected var tracker: any Tracker
      @Injected var exact: FileTracker
      @Injected var optional: (any Tracker)?
    }
    let tracker = FileTracker("one")
    registry.register(.instance(tracker, as: .anySupertype))
    let wide = Wide()
    #expect(wide.base === tracker)
    #expect(wide.tracker === tracker)
    #expect(wide.exact === tracker)
    #expect(wide.optional === tracker)
  }

  @Test("an injected property asks the child registry before its parent")
  func asksTheChildRegistryBeforeItsParent() {
    let child = InitializerRegistry(parent: registry)
    registry.register((any Tracker).self, .in(Page.self) { _ in FileTracker("parent's, for the container") })
    registry.register(.instance(Clock()))
    child.register((any Tracker).self, label("child's"))
    let page = child.run { Page() }
    #expect(page.tracker.label == "child's")
    #expect(page.clock != nil)
    #expect(Page().tracker.label == "parent's, for the container")
  }

  @Test("an injected property asks its object's registry wherever it is read")
  func asksTheRegistryOfItsMakingWhereverItIsRead() async {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Shared: @unchecked Sendable { @Injected var tracker: any Tracker }
    let mine = InitializerRegistry()
    mine.register((any Tracker).self, label("mine"))
    registry.register((any Tracker).self, label("task's"))
    let made = (0..<3).map { _ in mine.run { Shared() } }
    #expect(made[0].tracker.label == "mine")
    #expect(await Task.detached { made[1].tracker.label }.value == "mine")
    await onThreads { #expect(made[2].tracker.label == "mine") }
  }

  @Test("an injected property works in an actor, a main-actor class, a struct, a local scope and as a constant")
  func worksInAnActorAMainActorClassAStructALocalAndAConstant() async {
    actor Worker { @Injected var clock: Clock }
    struct Model { @Injected var clock: Clock }
    final class Constant: Sendable { let clock = Injected<Clock>() }
    let clock = Clock()
    registry.register(.instance(clock))
    #expect(await Worker().clock === clock)
    #expect(Model().clock === clock)
    #expect(Constant().clock.value === clock)
    @Injected var local: Clock
    #expect(local === clock)
    await MainActor.run {
      @MainActor final class Window { @Injected var clock: Clock }
      #expect(Window().clock === clock)
    }
  }

  @Test("a value that is registered on the main actor is created there")
  func initializedOnTheMainActorIsMadeThere() async {
    @MainActor final class View {}
    @MainActor final class Window { @Injected var view: View }
    registry.register(.onMainActor { _ in View() })
    await MainActor.run {
      let window = Window()
      #expect(window.view === window.view)
    }
  }
}

@Suite("A read that fails", .registry, .timeLimit(.hang)) struct FailureTests {
  private var registry: InitializerRegistry { .current }

  @Test("a read with nothing registered names the property and similar registrations")
  func withNothingRegisteredNamesThePropertyAndWhatComesNear() throws {
    registry.register(FileTracker.self) { FileTracker() }
    let error = try #require(throws: InjectionError.self) { try Page().$tracker.resolve() }
    #expect(error.code == .notRegistered)
    #expect(error.description.contains("Page.tracker"))
    #expect(error.description.contains("FileTracker"))
    #expect(error.description.contains("registry.register((any Tracker).self) { … }"))
  }

  @Test("a read that fails with nothing registered stops the program")
  func withNothingRegisteredStopsTheProgram() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = SubPage().exact
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("No initializer is registered for FileTracker for SubPage.exact"))
    #expect(message.contains("registry.register(FileTracker.self) { … }"))
    #expect(message.contains("ResolutionTests.swift"))
  }

  @Test("a read after an error tries again")
  func byAnErrorTriesAgainAtTheNextRead() throws {
    struct Refusal: Error {}
    let attempts = Counter()
    registry.register((any Tracker).self) {
      if attempts.increment() == 1 { throw Refusal() }
      return FileTracker()
    }
    let page = Page()
    let error = try #require(throws: InjectionError.self) { try page.$tracker.resolve() }
    #expect(error.code == .initializerFailed)
    #expect(error.underlying is Refusal)
    #expect(!page.$tracker.hasValue)
    #expect(page.heard == [])
    #expect(throws: Never.self) { try page.$tracker.resolve() }
    #expect(page.heard == ["tracker"])
  }

  @Test("a read that fails names the property, its declaration and the registration")
  func byAnErrorNamesThePropertyWhereItIsDeclaredAndTheRegistration() throws {
    struct Refusal: Error {}
    final class Holder { @Injected var clock: Clock }
    let line = #line - 1
    registry.register(Clock.self) { throw Refusal() }
    let error = try #require(throws: InjectionError.self) { try Holder().$clock.resolve() }
    let file = "InjectedSpellTests/ResolutionTests.swift"
    #expect(error.description.contains("for Holder.clock, declared at \(file):\(line)"))
    #expect(error.description.contains("registered at \(file):\(line + 2)"))
    #expect(error.description.contains("threw Refusal()"))
  }

  @Test("a read for which only other names are registered shows the one that is nearest to the property's")
  func nearestName() throws {
    final class Holder { @Injected var walClock: Clock }
    for index in 0..<20 { registry.register(Clock.self, named: .equal(to: "clock\(index)xyz")) { Clock() } }
    registry.register(Clock.self, named: "wallClock") { Clock() }
    let error = try #require(throws: InjectionError.self) { try Holder().$walClock.resolve() }
    #expect(error.description.contains("Did you mean \"wallClock\"?"))
  }

  @Test("a read that needs itself throws the path")
  func byNeedingItselfThrowsThePath() throws {
    registry.register((any Tracker).self, .in(Page.self) { FileTracker(try $0.$tracker.resolve().label) })
    let error = try #require(throws: InjectionError.self) { try Page().$tracker.resolve() }
    #expect(error.code == .cycle)
    #expect(error.path.first == error.path.last)
    #expect(error.path.count == 2)
  }
}
