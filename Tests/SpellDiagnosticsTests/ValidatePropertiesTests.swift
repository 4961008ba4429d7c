import SpellTesting
import Spellbook
import Testing

@testable import SpellDiagnostics

@Suite("The check of a program's properties", .enabled(if: WrappedProperty.isSupported), .registry)
struct ValidatePropertiesTests {
  let properties = WrappedProperty.all(inModules: "SpellDiagnosticsTests")
  var registry: InitializerRegistry { .current }

  private func missing(in registry: InitializerRegistry = .current) -> Set<String> {
    Set(properties.filter { !registry.validate(properties: [$0]).isEmpty }.map(\.description))
  }

  @Test("reports each property that would stop the program, and no other")
  func nothingRegistered() {
    #expect(
      missing() == [
        "Office.courier", "Branch.address", "Clerk.courier", "Desk.lamp", "Hidden.Archive.Index.theme",
        "Constants.courier", "OfInts.address", "Local.lamp", "Widget.number", "Post.stamps", "Menu.Dish.plate",
        "Plate.kiosk", "Kiosk.makeTicket",
      ])
  }

  @Test("a property whose type a declared key makes isn't reported, though no one has used the key")
  func keys() throws {
    let mailbox = try #require(properties.first { $0.description == "Post.mailbox" })
    #expect(mailbox.necessity == .unknown)
    #expect(registry.validate(properties: [mailbox]).isEmpty)
    // The other wrapper takes no key.
    #expect(missing().contains("Post.stamps"))
  }

  @Test("an error has the property, its type and the line to write")
  func message() throws {
    let property = try #require(properties.first { $0.description == "Branch.address" })
    let error = try #require(registry.validate(properties: [property]).first)
    #expect(error.code == .notRegistered && error.path == ["Address"])
    #expect(
      error.description == """
        No initializer is registered for Address for Branch.address.
          Register it before it is asked for: registry.register(Address.self) { … }
        """)
  }

  @Test("an error names what is registered nearby")
  func nearby() throws {
    registry.register(Lamp.self, named: "reading") { Lamp() }
    registry.register(Lamp.self, .in(Plain.self) { _ in Lamp() })
    let property = try #require(properties.first { $0.description == "Widget.number" })
    registry.register(Address?.self) { nil }
    let error = try #require(registry.validate(properties: [property]).first)
    #expect(error.description.contains("Address?"))
  }

  @Test("an Optional property is reported if something that would fit is registered as another type")
  func optionals() throws {
    let tower = try #require(properties.first { $0.description == "Tower.courier" })
    let post = try #require(properties.first { $0.description == "Post.lost" })
    #expect(registry.validate(properties: [tower, post]).isEmpty)
    registry.register { 7 }
    #expect(registry.validate(properties: [tower, post]).isEmpty)
    let function = registry.register { { () -> any Courier in Bike() } }
    let advice = registry.validate(properties: [tower, post]).first?.description
    #expect(advice?.contains("A function that returns Courier is registered at") == true)
    function.unregister()
    registry.register { Bike() }
    registry.register { Parcel() }
    let errors = registry.validate(properties: [tower, post])
    #expect(errors.count == 1, "A declared key may make the other.")
    #expect(errors.first?.description.contains("A conforming type, Bike, is registered at") == true)
    #expect(errors.first?.description.contains("registry.register((any Courier).self) { … }") == true)
    registry.register((any Courier).self) { Bike() }
    #expect(registry.validate(properties: [tower]).isEmpty)
  }

  @Test("a registration for the type serves all, with any name too, since a declaration may give one")
  func names() {
    registry.register((any Courier).self, named: "night") { Bike() }
    #expect(!missing().contains { $0.hasSuffix("courier") })
  }

  @Test("a wrapper that asks with the property's own name isn't served by another name")
  func ownNames() {
    registry.register(Address.self, named: "other") { Address() }
    #expect(missing().contains("Widget.number"))
    registry.register(Address.self, named: "number") { Address() }
    #expect(!missing().contains("Widget.number"))
  }

  @Test("a registration for a class serves its properties, and those of its subclasses if it says so")
  func containers() {
    registry.register((any Courier).self, .in(Clerk.self) { _ in Bike() })
    registry.register(Address.self, .in(Office.self) { _ in Address() })
    #expect(missing().isSuperset(of: ["Office.courier", "Branch.address", "Constants.courier"]))
    #expect(!missing().contains("Clerk.courier"))
    registry.register(Address.self, .in(Office.self, subclasses: true) { _ in Address() })
    #expect(!missing().contains("Branch.address"))
  }

  @Test("a class whose subclass is served may have no direct instances")
  func subclasses() {
    registry.register((any Courier).self, .in(Branch.self) { _ in Bike() })
    #expect(!missing().contains("Office.courier"))
    #expect(missing().contains("Clerk.courier"))
  }

  @Test("a struct's property and a constant ask for no container")
  func withoutContainer() {
    registry.register((any Courier).self, .in(Constants.self) { _ in Bike() })
    #expect(missing().contains("Constants.courier"))
    registry.register(Lamp.self) { Lamp() }
    #expect(!missing().contains("Desk.lamp"))
  }

  @Test("an async registration that keeps no value doesn't serve a property, which can't await")
  func asyncWithoutScope() {
    registry.register(Lamp.self, .async { Lamp() })
    let lamp = WrappedProperty.all(inModules: "SpellDiagnosticsTests").filter { $0.description == "Desk.lamp" }
    #expect(registry.validate(properties: lamp).map(\.code) == [.notReady])
  }

  @Test("nor does one that is autowired and needs such a value, unless a scope keeps it after it was awaited")
  func asyncNeed() {
    registry.register(Int.self, .async { 7 })
    registry.register(Lamp.self, .autowire { (_: Int) in Lamp() })
    let lamp = WrappedProperty.all(inModules: "SpellDiagnosticsTests").filter { $0.description == "Desk.lamp" }
    let error = registry.validate(properties: lamp).first
    #expect(error?.code == .notReady && error?.path == ["Lamp", "Int"])
    #expect(error?.description.contains("registry.register(Int.self, scope: .singleton, .async { … })") == true)
    registry.register(Lamp.self, scope: .singleton, .autowire { (_: Int) in Lamp() })
    #expect(registry.validate(properties: lamp).isEmpty)
  }

  @Test("an async registration that a decoration wraps is found by the property's name, not by the decoration's")
  func asyncInDecoration() throws {
    registry.register(Address.self, named: .containing("ess"), .async { Address() })
    registry.decorate(Address.self, named: .containing("addr")) { $0 }
    let address = try #require(properties.first { $0.description == "Branch.address" })
    #expect(registry.validate(properties: [address]).map(\.code) == [.notReady])
  }

  @Test("an instance of any supertype, a parent's registration, an async and a main-actor one serve")
  func otherRegistrations() {
    registry.register(.instance(Bike(), as: .anySupertype))
    // `@Custom` asks for an Address with the property's own name, whatever the property's type is.
    registry.register(Address.self, scope: .singleton, .async { Address() })
    registry.register(Lamp.self, .onMainActor { Lamp() })
    registry.register { Plate() }
    registry.register { Kiosk() }
    registry.register(.factory { (_, number: Int) in Ticket(number) })
    let child = InitializerRegistry(parent: registry)
    #expect(missing(in: child) == ["Hidden.Archive.Index.theme"])
    child.register((any PartialLoader).self) { NoLoader() }
    #expect(missing(in: child) == [])
    #expect(missing() == ["Hidden.Archive.Index.theme"])
  }

  @Test("an initializer that takes arguments serves no property")
  func arguments() {
    registry.register(ArgumentFactory<Lamp, Int>.self, .factory { _, _ in Lamp() })
    #expect(missing().contains("Desk.lamp"))
  }

  @Test("runs no initializer")
  func makesNothing() {
    registry.register(Lamp.self, scope: .singleton) { fatalError("No initializer runs.") }
    #expect(!missing().contains("Desk.lamp"))
  }

  @Test("what is reported is what a read would throw")
  func agreesWithReads() throws {
    let office = Office()
    #expect(throws: InjectionError.self) { try office.$courier.resolve() }
    #expect(missing().contains("Office.courier"))
    registry.register((any Courier).self, named: "courier", in: Office.self)
    try office.$courier.resolve()
    #expect(!missing().contains("Office.courier"))
  }
}

extension InitializerRegistry {
  fileprivate func register(_ type: (any Courier).Type, named name: PropertyName, in container: Office.Type) {
    register(type, named: name, .in(container) { _ in Bike() })
  }
}

private struct NoLoader: PartialLoader {
  func load<Value>(_: Value.Type, named: String) throws -> Value { throw PartialErrorForTests() }
}
private struct PartialErrorForTests: Error {}

final class Dish: Sendable {}
enum Menu {
  final class Dish { @Injected var plate: Plate }
}
final class Plate { @Injected var kiosk: Kiosk }
final class Kiosk { @Injected var makeTicket: ArgumentFactory<Ticket, Int> }
/// A class with the name of a type in another module.
final class ServiceBox { @Lazy var lamp: Lamp }
private final class Locker { @Lazy var lamp: Lamp }

@Suite("The graph of a program's properties", .enabled(if: WrappedProperty.isSupported), .registry)
struct PropertyGraphTests {
  let properties = WrappedProperty.all(inModules: "SpellDiagnosticsTests")
  var registry: InitializerRegistry { .current }

  @Test("shows what needs what, and what is missing")
  func edges() throws {
    registry.register((any Courier).self, scope: .singleton) { Bike() }
    registry.register(Office.self) { Office() }
    let graph = registry.graph(properties: properties)
    let edges = Set(graph.edges.map { "\($0.from) > \($0.to)" })
    #expect(edges.isSuperset(of: ["Office > any Courier", "Clerk > any Courier", "Branch > Address", "Desk > Lamp"]))
    // Nothing serves these properties, and they don't need a registration.
    #expect(!graph.edges.contains { $0.from == "Window" || $0.from == "Hidden.Archive" })
    let office = try #require(graph.nodes.first { $0.type == "Office" })
    #expect(office.scope == "unique" && !office.isContainer)
    let clerk = try #require(graph.nodes.first { $0.type == "Clerk" })
    #expect(clerk.scope == nil && clerk.isContainer)
    let address = try #require(graph.nodes.first { $0.type == "Address" })
    #expect(address.scope == nil && !address.isContainer)
    #expect(graph.nodes.count == Set(graph.nodes.map(\.type)).count)
  }

  @Test("a property of a registered factory's type isn't missing")
  func factory() throws {
    registry.register(.factory { (_, number: Int) in Ticket(number) })
    let graph = registry.graph(properties: properties.filter { $0.description == "Kiosk.makeTicket" })
    #expect(graph.edges.map(\.to) == ["factory of Ticket from Int"])
    #expect(graph.nodes.contains { $0.type == "factory of Ticket from Int" && $0.place != nil })
  }

  @Test("a type isn't taken for a registered type of the same name")
  func sameName() {
    registry.register { Dish() }
    let graph = registry.graph(properties: properties.filter { $0.description == "Menu.Dish.plate" })
    #expect(graph.edges.map { "\($0.from) > \($0.to)" } == ["Menu.Dish > Plate"])
  }

  @Test("a container and a registered type of the same name have their modules' names")
  func containerOfARegisteredName() {
    registry.register { Lamp() }
    registry.register { InjectedSpell.ServiceBox() }
    let graph = registry.graph(properties: properties.filter { $0.description == "ServiceBox.lamp" })
    #expect(graph.edges.map { "\($0.from) > \($0.to)" } == ["SpellDiagnosticsTests.ServiceBox > Lamp"])
    #expect(graph.nodes.contains { $0.type == "InjectedSpell.ServiceBox" && !$0.isContainer })
  }

  @Test("two containers of the same name are two nodes")
  func containersOfOneName() {
    registry.register { Lamp() }
    let graph = registry.graph(properties: properties.filter { $0.description == "Locker.lamp" })
    #expect(graph.nodes.count(where: \.isContainer) == 2)
    #expect(Set(graph.edges.map(\.from)).count == 2)
  }

  @Test("a missing type is missing even if it has properties itself, in any order")
  func missingContainer() {
    let drawn = properties.filter { ["Menu.Dish.plate", "Plate.kiosk"].contains($0.description) }
    for properties in [drawn, drawn.reversed()] {
      let plate = registry.graph(properties: properties).nodes.first { $0.type == "Plate" }
      #expect(plate?.isContainer == false)
    }
  }

  @Test("an optional property has an edge to what serves it")
  func optional() {
    registry.register(Lamp.self) { Lamp() }
    #expect(registry.graph(properties: properties).edges.contains(where: { $0.from == "Window" && $0.to == "Lamp" }))
  }

  @Test("draws containers as neither registered nor missing")
  func drawing() {
    registry.register((any Courier).self) { Bike() }
    let graph = registry.graph(properties: properties.filter { $0.description == "Clerk.courier" })
    #expect(graph.mermaid().contains("[\"Clerk\"]"))
    #expect(graph.svg().contains("class=\"container\"") && !graph.svg().contains("class=\"missing\""))
    #expect(graph.json().contains("\"isContainer\": true"))
  }
}
