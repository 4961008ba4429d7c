import SpellRegistry
import TestSupport
import Synchronization
import Testing

@Suite("A completion", .timeLimit(.hang))
struct CompletionTests {
  final class Parent: Sendable {
    let child = Mutex<Child?>(nil)
  }
  final class Child: Sendable {
    let parent: Parent
    init(parent: Parent) { self.parent = parent }
  }
  struct Failure: Error {}

  let registry = InitializerRegistry()
  let heard = Log()
  final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test("runs when the whole resolution is there, so it can close a cycle of two singletons")
  func closesACycle() throws {
    registry.register(scope: .singleton) { Parent() }
      .onCompletion { parent, resolver in
        let child = try? resolver.resolve(Child.self)
        parent.child.withLock { $0 = child }
      }
    registry.register(scope: .singleton, .autowire(Child.init))
    let child = try registry.resolve(Child.self)
    #expect(child.parent.child.withLock { $0 } === child)
    let parent = try registry.resolve(Parent.self)
    #expect(parent.child.withLock { $0 } === child)
  }

  private final class Node: Sendable {
    let other = Mutex<Node?>(nil)
  }

  @Test("closes a cycle of two graph values, which get each other")
  func closesACycleOfGraphValues() throws {
    for (name, other) in [("left", "right"), ("right", "left")] {
      registry.register(Node.self, named: .equal(to: name), scope: .graph) { Node() }
        .onCompletion { node, resolver in
          let other = try? resolver.resolve(Node.self, named: other)
          node.other.withLock { $0 = other }
        }
    }
    let left = try registry.resolve(Node.self, named: "left")
    let right = try #require(left.other.withLock { $0 })
    #expect(right !== left)
    #expect(right.other.withLock { $0 } === left)
    left.other.withLock { $0 = nil }
  }

  @Test("that begins another without end is a cycle that names them", arguments: [1, 2])
  func endless(hooks: Int) throws {
    for _ in 0..<hooks {
      registry.register(Int.self) { 7 }.onCompletion { _, resolver in _ = try? resolver.resolve(String.self) }
    }
    let text = registry.register(String.self) { "text" }
    for _ in 0..<hooks { text.onCompletion { _, resolver in _ = try? resolver.resolve(Int.self) } }
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Int.self) }
    #expect(error?.code == .cycle)
    #expect(error?.path == ["Int", "String", "Int"])
    #expect(error?.description.contains("Completions begin each other without end") == true)
    text.unregister()
    #expect(try registry.resolve(Int.self) == 7)
  }

  @Test("runs once for each new value, after the hooks, and not for one that is kept")
  func onceForEachValue() throws {
    let heard = heard
    registry.register(Int.self) { 7 }
      .onCompletion { value, _ in heard.add("completed \(value)") }
      .onInjection { value, _ in heard.add("injected \(value)") }
    registry.register(String.self, scope: .singleton) { "kept" }.onCompletion { value, _ in heard.add(value) }
    for _ in 0..<2 {
      _ = try registry.resolve(Int.self)
      _ = try registry.resolve(String.self)
    }
    #expect(heard.all == ["injected 7", "completed 7", "kept", "injected 7", "completed 7"])
  }

  @Test("of what was made for a value that failed runs, too")
  func afterAFailure() throws {
    let heard = heard
    registry.register(Int.self, scope: .singleton) { 7 }.onCompletion { value, _ in heard.add("completed \(value)") }
    registry.register(String.self) { resolver in
      _ = try resolver.resolve(Int.self)
      throw Failure()
    }
    #expect(throws: InjectionError.self) { try registry.resolve(String.self) }
    #expect(heard.all == ["completed 7"])
  }

  @Test("of a value that is awaited runs once for each run of its initializer")
  func awaited() async throws {
    let heard = heard
    registry.register(Int.self, scope: .singleton, .async { 7 }).onCompletion { value, _ in heard.add("kept \(value)")
    }
    registry.register(String.self, .async { "unique" }).onCompletion { value, _ in heard.add(value) }
    for _ in 0..<2 {
      _ = try await registry.resolveAsync(Int.self)
      _ = try await registry.resolveAsync(String.self)
    }
    #expect(heard.all == ["kept 7", "unique", "unique"])
  }

  @Test("runs after every value of one resolution was made, in their order")
  func order() throws {
    let heard = heard
    registry.register(Int.self) {
      heard.add("made Int"); return 7
    }.onCompletion { _, _ in heard.add("Int") }
    registry.register(String.self) { resolver in
      let number: Int = try resolver.resolve()
      heard.add("made String")
      return "\(number)"
    }.onCompletion { _, _ in heard.add("String") }
    _ = try registry.resolve(String.self)
    #expect(heard.all == ["made Int", "made String", "Int", "String"])
  }
}

@Suite("A value that is released with its completion")
struct CompletedValueTests {
  private final class Asking: Sendable {
    let registry: InitializerRegistry
    let isOver: Counter
    init(_ registry: InitializerRegistry, _ isOver: Counter) { (self.registry, self.isOver) = (registry, isOver) }
    deinit {
      _ = try? registry.resolve(Ticket.self)
      isOver.increment()
    }
  }

  @Test("may ask the registry in its deinitializer, in the resolution that ends")
  func deinitializer() throws {
    let (registry, isOver) = (InitializerRegistry(), Counter())
    registry.register(Ticket.self, scope: .graph) { Ticket(1) }
    registry.register { resolver in Asking(resolver.registry, isOver) }.onCompletion { _, _ in }
    registry.register(Int.self) { resolver in
      _ = try resolver.resolve(Asking.self)
      return 7
    }
    #expect(try registry.resolve(Int.self) == 7)
    #expect(isOver.value == 1)
  }

  @Test("is released if completions cause each other without end")
  func endless() throws {
    let (registry, isOver) = (InitializerRegistry(), Counter())
    registry.register(Ticket.self) { Ticket(1) }
    registry.register(ArgumentFactory<Asking, Int>.self, .factory { resolver, _ in Asking(resolver.registry, isOver) })
      .onCompletion { _, resolver in _ = try? resolver.resolve(Asking.self, arguments: 1) }
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Asking.self, arguments: 1) }
    #expect(error?.code == .cycle)
    #expect(isOver.value >= 100)
  }
}

extension PropertyName { fileprivate static let backup: PropertyName = "backup" }

@Suite("A registry that is asked what it has")
struct IsRegisteredTests {
  @Test("knows registrations of itself and its parents, by name, and makes nothing")
  func isRegistered() throws {
    let parent = InitializerRegistry()
    let registry = InitializerRegistry(parent: parent)
    #expect(!registry.isRegistered(Int.self))
    parent.register(Int.self, named: .backup) { 7 }
    #expect(!registry.isRegistered(Int.self))
    #expect(registry.isRegistered(Int.self, named: "backup"))
    registry.register(String.self) { fatalError("never made") }
    #expect(registry.isRegistered(String.self) && registry.isRegistered(String?.self))
    #expect(!parent.isRegistered(String.self))
  }

  @Test("a completion gets the name of the property and not the object, which may be elsewhere by then")
  func pointWithoutContainer() {
    final class Page { @Spell var ticket: Ticket }
    let (registry, heard) = (InitializerRegistry(), Shared<[String]>([]))
    registry.register { Ticket(1) }.onCompletion { _, resolver in
      let point = resolver.point
      heard.update {
        $0.append("\(point.propertyName ?? "-") \(point.container == nil) \(point.containerType == Page.self)")
      }
    }
    _ = registry.run { Page() }.ticket
    #expect(heard.value == ["ticket true true"])
  }
}
