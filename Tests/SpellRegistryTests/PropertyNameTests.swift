import SpellRegistry
import Synchronization
import TestSupport
import Testing

private class Parent {
  @Spell var inherited: String
  @Spell("alias") var renamed: String
}
private final class Child: Parent {
  @Spell var own: String
  @Spell(line: 1, column: 1) var first: String
  @Spell(line: 1, column: 1) var second: String
}
private final class Box<Value> {
  @Spell var content: String
  init(_: Value.Type) {}
}
private actor Account {
  @Spell var owner: String
  func name() -> String { owner }
}

/// A wrapper that counts how often reflection asks for its identity.
private struct Probe<Value>: NamedProperty {
  let reads: Counter
  var identity: PropertyIdentity {
    reads.increment()
    return unsafe PropertyIdentity(
      address: Unmanaged.passUnretained(reads).toOpaque(), place: SourcePlace(fileID: #fileID, line: #line))
  }
}
/// A wrapper whose storage is behind a reference, so that only the identity tells properties apart.
private struct Boxed<Value>: NamedProperty {
  final class Content { let storage = PropertyStorage<Value>(at: SourcePlace(fileID: #fileID, line: #line)) }
  let content = Content()
  var identity: PropertyIdentity { content.storage.identity }
}
private final class Neighborhood {
  let before: Probe<String>
  @Spell var middle: String
  let after: Probe<Int>
  let boxed = Boxed<String>()
  init(_ reads: Counter) { (before, after) = (Probe(reads: reads), Probe(reads: reads)) }
}

@Suite("Properties' names", .timeLimit(.hang)) struct PropertyNameTests {
  let registry = InitializerRegistry()

  init() { registry.register(String.self) { $0.point.propertyName ?? "none" } }

  @Test("initializers get the property's own name, inherited or not, or what its declaration gives instead")
  func names() {
    let child = registry.run { Child() }
    #expect([child.inherited, child.renamed, child.own] == ["inherited", "alias", "own"])
  }

  @Test("two properties whose declarations seem to be in one place are distinguished")
  func onePlace() {
    for _ in 0..<2 {
      let child = registry.run { Child() }
      #expect(child.second == "second")
      #expect(child.first == "first")
    }
  }

  @Test("properties of generic classes and of actors have their names")
  func kinds() async {
    #expect(registry.run { Box(Int.self) }.content == "content")
    #expect(registry.run { Box(String.self) }.content == "content")
    #expect(await registry.run { Account() }.name() == "owner")
  }

  @Test("properties of structs, locals and constants have none")
  func nameless() {
    struct Form { @Spell var title: String }
    #expect(registry.run { Form() }.title == "none")
    let constant = registry.run { Spell<String>() }
    #expect(constant.wrappedValue == "none")
  }

  @Test("registrations are chosen by the property's own name, or by its alias")
  func chosen() {
    registry.register(String.self, named: "inherited") { "by name" }
    registry.register(String.self, named: "alias") { "by alias" }
    registry.register(String.self, named: "renamed") { "by the name it has not" }
    registry.register(String.self, named: .containing("WN")) { "by a part" }
    let child = registry.run { Child() }
    #expect([child.inherited, child.renamed, child.own] == ["by name", "by alias", "by a part"])
  }

  @Test("the observer hears the property's own name, whatever it is asked with")
  func observer() {
    final class Page: InjectionObserver {
      @Spell("alias") var title: String
      var heard: [String] = []
      func didInject(_ value: Any, intoProperty name: String) { heard.append("\(name) = \(value)") }
    }
    let page = registry.run { Page() }
    _ = page.title
    #expect(page.heard == ["title = alias"])
  }

  @Test("a property that its own initializer assigns keeps its name for the observer and the registry's hooks")
  func assignedByItsInitializer() {
    final class Page: InjectionObserver {
      @Spell(line: 1, column: 1) var number: Int
      @Spell(line: 1, column: 1) var title: String
      let neighbor: Probe<Int>
      var heard: [String] = []
      init(_ reads: Counter) { neighbor = Probe(reads: reads) }
      func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
    }
    let (heard, reads) = (Shared<[String?]>([]), Counter())
    registry.onInjection { _, point in heard.update { $0.append(point.propertyName) } }
    registry.register(
      .in(Page.self) { page in
        page.title = "assigned"
        return "made"
      })
    let page = registry.run { Page(reads) }
    #expect(page.title == "made" && page.title == "assigned")
    #expect(page.heard == ["title"])
    #expect(heard.value == ["title"])
    #expect(reads.value == 0)
  }

  @Test("a property that its own initializer assigns has no name if another one of its type seems to be in its place")
  func assignedInOnePlace() {
    let heard = Shared<[String?]>([])
    registry.onInjection { _, point in heard.update { $0.append(point.propertyName) } }
    registry.register(
      .in(Child.self) { child in
        child.second = "assigned"
        return "made"
      })
    #expect(registry.run { Child() }.second == "made")
    #expect(heard.value == [nil])
  }

  @Test("a container may hold what cannot be copied, and what is gone")
  func otherFields() {
    final class Page {
      let lock = Mutex(0)
      weak var gone: Clock?
      @Spell var title: String
    }
    let page = registry.run { Page() }
    do {
      let clock = Clock()
      page.gone = clock
    }
    #expect(page.title == "title")
  }

  private class Shown: CustomReflectable {
    @Spell var number: Int
    var customMirror: Mirror { Mirror(self, children: ["number": number]) }
  }
  private final class ShownBelow: Shown {
    @Spell var other: Int
  }

  @Test("a class whose custom mirror reads its own property has no names, and neither has a subclass")
  func customMirror() throws {
    registry.register(Int.self) { 7 }
    registry.register(Int.self, named: "other") { 8 }
    let (shown, below) = registry.run { (Shown(), ShownBelow()) }
    #expect(try shown.$number.resolve(in: shown) == 7)
    #expect(below.number == 7 && below.other == 7)
    #expect("\(shown.customMirror.children.first?.value ?? "")" == "7")
  }

  @Test("a search for one property reads no other one")
  func neighbors() throws {
    let reads = Counter()
    let page = registry.run { Neighborhood(reads) }
    #expect(page.middle == "middle")
    #expect(registry.run { Neighborhood(reads) }.middle == "middle")
    #expect(reads.value == 0)
  }

  @Test("a search for a property that was injected again reads no other one")
  func neighborsAfterReinjection() {
    let reads = Counter()
    let page = registry.run { Neighborhood(reads) }
    for value in ["first", "second", "third"] {
      registry.register(named: "middle", .instance(value))
      registry.reinject(String.self)
      #expect(page.middle == value)
    }
    #expect(reads.value == 0)
  }

  @Test("a wrapper that has its storage behind a reference has a name")
  func behindAReference() throws {
    let page = registry.run { Neighborhood(Counter()) }
    #expect(try page.boxed.content.storage.resolve(in: page) == "boxed")
  }

  @Test("sixteen threads that ask for the first time get the same name")
  func race() async {
    let registry = registry
    let names = await onThreads(16) { _ in registry.run { Child() }.own }
    #expect(names == Array(repeating: "own", count: 16))
  }

  @Test("an observer whose property's name reflection does not show stops the program with a sentence")
  func unnamed() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Hidden: InjectionObserver, CustomReflectable {
        @Spell var number: Int
        func didInject(_ value: Any, intoProperty name: String) {}
        var customMirror: Mirror { Mirror(self, children: []) }
      }
      let registry = InitializerRegistry()
      registry.register(Int.self) { 7 }
      _ = registry.run { Hidden() }.number
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains("Hidden observes its injections, but reflection does not show the name"))
    #expect(message.contains("SpellRegistryTests/Spell.swift:"))
  }
}
