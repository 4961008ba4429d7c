import Foundation
import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Page {
  let title: String
  @Lazy var service: Service
  @Lazy var backup: Service
  @Lazy var secondBackup: Service
  @Lazy var expressed = Service("expression")
  init(_ title: String = "page") { self.title = title }
}
private class Article: Page {}
private final class Essay: Article {}

@Suite("A registration", .registry) struct RegistrationTests {
  private var registry: InitializerRegistry { .current }

  @Test("a registration for a class gets the enclosing object")
  func isGivenTheInstanceThatAsks() {
    registry.register(Service.self, .in(Page.self) { Service($0.title) })
    #expect(Page("one").service.label == "one")
    #expect(Page("two").expressed.label == "two")
  }

  @Test("an initializer knows the property that asks by its injection point")
  func seesThePropertyThatAsksThroughItsPoint() {
    registry.register(Service.self) { resolver in
      Service("\(resolver.point.containerType.map { "\($0)" } ?? "").\(resolver.point.propertyName ?? "")")
    }
    #expect(Essay().service.label == "Essay.service")
    #expect(Page().backup.label == "Page.backup")
  }

  @Test("a registration for a class excludes its subclasses by default")
  func forAClassIsForExactlyItUnlessSubclassesAreAskedFor() {
    registry.register { Service("any") }
    registry.register(Service.self, .in(Page.self) { _ in Service("page") })
    #expect(Page().service.label == "page")
    #expect(Article().service.label == "any")
    registry.register(Service.self, .in(Page.self, subclasses: true) { _ in Service("page and below") })
    #expect(Page().service.label == "page")
    #expect(Essay().service.label == "page and below")
    registry.register(Service.self, .in(Article.self, subclasses: true) { _ in Service("article and below") })
    #expect(Essay().service.label == "article and below")
  }

  @Test("an object that an expression creates asks the property's registry, whichever code reads it")
  func ofAnExpressionIsThePropertysRegistry() {
    final class Outer { @Lazy var page = Page() }
    let (own, reader) = (InitializerRegistry(), InitializerRegistry())
    own.register { Service("own") }
    reader.register { Service("reader") }
    let (first, second) = (own.run { Outer() }, own.run { Outer() })
    #expect(first.page.service.label == "own")
    #expect(reader.run { second.page.service.label } == "own")
    #expect(reader.run { own.run { Outer() }.page.backup.label } == "own")
  }

  // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
  private final class Basket: DefaultInitializable, @unchecked Sendable {
    @Lazy var content: Service
    init() {}
  }

  @Test("an object that is an empty value asks the property's registry, whichever code reads it")
  func ofAnEmptyValueIsThePropertysRegistry() {
    final class Outer { @Lazy var basket: Basket }
    let (own, reader) = (InitializerRegistry(), InitializerRegistry())
    own.register { Service("own") }
    reader.register { Service("reader") }
    let outer = own.run { Outer() }
    #expect(reader.run { outer.basket.content.label } == "own")
  }

  @Test("an empty value that a singleton holds doesn't keep the registry, whichever code reads it first")
  func ofAnEmptyValueIsNotKept() throws {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Outer: @unchecked Sendable { @Lazy var basket: Basket }
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry()
      gone = registry
      registry.register { Service("own") }
      registry.register(Outer.self, scope: .singleton) { Outer() }
      let outer = try registry.resolve(Outer.self)
      #expect(registry.run { outer.basket.content.label } == "own")
    }
    #expect(gone == nil)
  }

  @Test("an expression makes the value even if the property's registry no longer exists")
  func isNotNeededByAnExpression() throws {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Outer: @unchecked Sendable {
      @Lazy var service = Service("expression")
      let constant = LazyConstant { Service("constant") }
    }
    weak var gone: InitializerRegistry?
    let outer: Outer
    do {
      let registry = InitializerRegistry()
      gone = registry
      registry.register(Outer.self, scope: .singleton) { Outer() }
      outer = try registry.resolve(Outer.self)
    }
    #expect(gone == nil)
    #expect(outer.service.label == "expression")
    #expect(outer.constant.value.label == "constant")
  }

  @Test("a property with an expression asks the reader's registry if its own registry no longer exists")
  func ofTheReaderIsAskedBeforeAnExpression() throws {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Outer: @unchecked Sendable {
      @Lazy var first = Service("expression")
      @Lazy var second = Service("expression")
    }
    weak var gone: InitializerRegistry?
    let outer: Outer
    do {
      let registry = InitializerRegistry()
      gone = registry
      registry.register(Outer.self, scope: .singleton) { Outer() }
      outer = try registry.resolve(Outer.self)
    }
    #expect(gone == nil)
    let heard = Shared<[String]>([])
    registry.onInjection { _, point in heard.update { $0.append(point.propertyName ?? "") } }
    registry.register(Service.self) { Service("any") }
    #expect(outer.first.label == "expression")
    registry.register(Service.self, .in(Outer.self) { _ in Service("class") })
    #expect(outer.second.label == "class")
    #expect(heard.value == ["first", "second"])
  }

  @Test("a registration ranks below the expression unless it is for the class")
  func standsBelowTheExpressionUnlessItIsForTheContainer() {
    registry.register { Service("any") }
    registry.register(Service.self, named: "expressed") { Service("named") }
    #expect(Page().expressed.label == "expression")
    registry.register(Service.self, .in(Page.self, subclasses: true) { _ in Service("container") })
    #expect(Page().expressed.label == "container")
    #expect(Essay().expressed.label == "container")
  }

  @Test("a registration is chosen by the property's name, then by a part of it")
  func isChosenByThePropertysNameThenByAPartOfIt() {
    registry.register { Service("any") }
    registry.register(Service.self, named: .containing("BACKUP")) { Service("containing") }
    registry.register(Service.self, named: "backup") { Service("equal") }
    let page = Page()
    #expect(page.service.label == "any")
    #expect(page.backup.label == "equal")
    #expect(page.secondBackup.label == "containing")
  }

  @Test("a registration for the class wins over one for the name")
  func forTheContainerWinsOverOneForTheName() {
    registry.register(Service.self, named: "service") { Service("name") }
    registry.register(Service.self, .in(Page.self) { _ in Service("container") })
    #expect(Page().service.label == "container")
    registry.register(Service.self, named: "service", .in(Page.self) { _ in Service("both") })
    #expect(Page().service.label == "both")
  }

  @Test("a registration replaces one with the same key")
  func replacesOneWithTheSameKey() {
    registry.register { Service("old") }
    registry.register { Service("new") }
    #expect(Page().service.label == "new")
  }

  @Test("a child registry's registration wins over its parent's")
  func ofAChildRegistryComesBeforeItsParents() {
    let child = InitializerRegistry(parent: registry)
    registry.register(Service.self, .in(Page.self) { _ in Service("parent's, for the container") })
    child.register { Service("child's, for any") }
    #expect(child.run { Page() }.service.label == "child's, for any")
    #expect(child.run { Page() }.expressed.label == "parent's, for the container")
    #expect(Page().service.label == "parent's, for the container")
    #expect(InitializerRegistry(parent: child).run { Article() }.service.label == "child's, for any")
  }

  @Test("a registration that is withdrawn no longer counts")
  func thatIsWithdrawnNoLongerCounts() {
    registry.register { Service("any") }
    let registration = registry.register(Service.self, .in(Page.self) { _ in Service("container") })
    registration.unregister()
    #expect(Page().service.label == "any")
  }
}

@Suite("The registry is the one of the object's making", .registry, .timeLimit(.hang)) struct CapturedRegistryTests {
  private var registry: InitializerRegistry { .current }

  private func page(of label: String) -> Page {
    let registry = InitializerRegistry()
    registry.register { Service(label) }
    return registry.run { Page() }
  }

  @Test("an object asks the registry that was current when it was created after the run has ended")
  func afterTheRunHasEnded() {
    let page = page(of: "mine")
    #expect(page.service.label == "mine")
    page.$service.reset()
    #expect(page.service.label == "mine")
  }

  @Test("an object asks the registry that was current when it was created inside another run")
  func insideAnotherRun() {
    let other = InitializerRegistry()
    other.register { Service("other") }
    let page = page(of: "mine")
    #expect(other.run { page.service.label } == "mine")
  }

  @Test(
    "an object asks the registry that was current when it was created on a thread without a task, or in a detached one")
  func outsideOfItsTask() async {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Shared: @unchecked Sendable { @Lazy var service: Service }
    registry.register { Service("task's") }
    let (read, detached) = (Shared(), Shared())
    await onThreads { #expect(read.service.label == "task's") }
    #expect(await Task.detached { detached.service.label }.value == "task's")
  }

  @Test("an object asks the registry that was current when it was created in a task started within a run")
  func inATaskStartedWithinARun() async {
    let mine = InitializerRegistry()
    mine.register { Service("mine") }
    let label = await mine.run { await Task { Page().service.label }.value }
    #expect(label == "mine")
  }

  @Test("a struct asks the registry that was current when it was created")
  func forAStructToo() {
    struct Form { @Lazy var service: Service }
    let mine = InitializerRegistry()
    mine.register { Service("mine") }
    let form = mine.run { Form() }
    #expect(form.service.label == "mine")
  }
}
