import InjectedSpell
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

// `@unchecked Sendable`: the class and its subclass have no properties.
private class Session: @unchecked Sendable {}
private protocol Door: AnyObject, Sendable {}
private final class Gate: Door {}
private struct Ticket: Sendable, Equatable { let number: Int, place: String }
private struct Endless: Sendable {}
private final class Count: Sendable { let value = Lock(0) }
private final class Opener: Sendable {
  let open = Injected(.ticket)
}

extension InjectionKeys {
  fileprivate static let session = InjectionKey(scope: .weak) { Session() }
  fileprivate static let held = InjectionKey(scope: .singleton) { Session() }
  fileprivate static let door = InjectionKey<any Door>(scope: .weak) { Gate() }
  fileprivate static let place = InjectionKey { "Rome" }
  fileprivate static let ticket = InjectionKey(
    .factory { (resolver, number: Int) in
      if number < 0 { throw CancellationError() }
      return Ticket(number: number, place: try resolver.resolve(.place))
    })
  fileprivate static let seat = InjectionKey(
    .factory { (_, argument1: Int, argument2: String) in "\(argument1)\(argument2)" })
  fileprivate static let endless: InjectionKey<ArgumentFactory<Endless, Int>> = InjectionKey(
    .factory { (resolver, argument: Int) in
      try resolver.resolve(.endless)(argument + 1)
    })
  fileprivate static let opener = InjectionKey(scope: .singleton) { Opener() }
  fileprivate static let open = InjectionKey<@Sendable () -> Void> { {} }
  fileprivate static let plain = InjectionKey<() -> Void> { {} }
}

private final class Page {
  @Injected(.session, .weak) var session
  @Injected(.held, .weak) var held: Session?
  @Injected(.door, .weak) var door
}

@Suite("A declared key", .registry, .timeLimit(.hang)) struct KeyFormsTests {
  var registry: InitializerRegistry { .current }

  @Test("is held weakly by a property, which reads nil when the object has gone, and asks again when it is reset")
  func weak() throws {
    let page = Page()
    #expect(page.held === Page().held && page.$held.hasValue)
    var strong = page.session
    #expect(strong != nil && page.session === strong && Page().session === strong)
    strong = nil
    #expect(page.session == nil && !page.$session.hasValue)
    page.$session.reset()
    strong = page.session
    #expect(strong != nil)
    let door = page.door
    #expect(door is Gate && page.door === door)
    page.door = nil
    #expect(page.door == nil)
  }

  @Test("is held weakly by a property if it is registered again, and by a property of another registry")
  func weakOverride() throws {
    final class Guest: Session, @unchecked Sendable {}
    let guest = Guest()
    registry.register(.session) { guest }
    let heard = Lock<[String]>([])
    registry.onInjection { value, point in
      heard.withLock { $0.append("\(type(of: value)) \(point.propertyName ?? "")") }
    }
    #expect(Page().session === guest)
    #expect(heard.withLock { $0 } == ["Guest session"])
    let child = registry.child { $0.register(.session, .instance(Session())) }
    #expect(child.run { Page() }.session !== guest)
  }

  @Test("makes values from arguments, as a property and resolved, with what is registered")
  func arguments() throws {
    final class Machine { @Injected(.ticket) var ticket }
    #expect(try Machine().ticket(7) == Ticket(number: 7, place: "Rome"))
    #expect(try registry.resolve(.seat)(3, "b") == "3b")
    registry.register(.place) { "Paris" }
    #expect(try registry.resolve(.ticket)(8) == Ticket(number: 8, place: "Paris"))
    let child = registry.child { $0.register(.place) { "Lima" } }
    #expect(try child.resolve(.ticket)(9).place == "Lima")
    registry.register(.ticket, .factory { _, number in Ticket(number: number, place: "fake") })
    #expect(try Machine().ticket(7).place == "fake")
  }

  @Test("whose initializer with arguments fails, or never ends, throws an error that names the key")
  func argumentErrors() throws {
    let error = try #require(throws: InjectionError.self) { try registry.resolve(.ticket)(-1) }
    #expect(error.code == .initializerFailed && error.path == ["Ticket"] && error.underlying is CancellationError)
    #expect(error.description.contains("InjectedSpellTests/KeyFormsTests.swift:"))
    let endless = try #require(throws: InjectionError.self) { try registry.resolve(.endless)(0) }
    #expect(endless.code == .cycle)
  }

  @Test("with arguments doesn't keep the registry that keeps its owner, and says when that registry has gone")
  func ownership() throws {
    var registry: InitializerRegistry? = InitializerRegistry()
    weak let gone = registry
    let opener = try #require(registry).resolve(.opener)
    #expect(try opener.open.value(1).number == 1)
    registry = nil
    #expect(gone == nil)
    let error = try #require(throws: InjectionError.self) { try opener.open.value(1) }
    #expect(error.code == .notRegistered && error.description.contains("is gone"))
  }

  @Test("of a function is registered with a closure that returns one, by key, by type and on the main actor")
  func functions() async throws {
    let counter = Count()
    @Sendable func open() { counter.value.withLock { $0 += 1 } }
    registry.register(.open) { { open() } }
    try registry.resolve(.open)()
    registry.register(.plain) { { open() } }
    try registry.resolve(.plain)()
    registry.register((() -> Void).self) { { open() } }
    try registry.resolve((() -> Void).self)()
    registry.register(.plain) { _ in { open() } }
    try registry.resolve(.plain)()
    registry.register((@Sendable () -> Void).self) { { open() } }
    try registry.resolve((@Sendable () -> Void).self)()
    registry.register(.open, .onMainActor { { open() } })
    try await registry.resolveAsync(.open)()
    registry.register((@MainActor () -> Void).self, .onMainActor { { open() } })
    try await registry.resolveAsync((@MainActor () -> Void).self)()
    #expect(counter.value.withLock { $0 } == 7)
  }
}
