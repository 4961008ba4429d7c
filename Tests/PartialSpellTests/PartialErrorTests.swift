import PartialSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Wallet {
  @Partial("Spare") var card: Card
  @Partial var maybe: Card?
}

@Suite("A @Partial that can't be loaded", .registry, .timeLimit(.hang)) struct PartialErrorTests {
  let registry = InitializerRegistry.current

  private func error(of wallet: Wallet = Wallet()) throws -> PartialError {
    try #require(throws: PartialError.self) { try wallet.$card.load() }
  }

  @Test("names the type, the property, the resource and the places searched")
  func notFound() throws {
    registry.register((any PartialLoader).self) { NamingLoader(refusals: [.notFound]) }
    let error = try error()
    #expect(error.code == .notFound)
    #expect(error.typeName == "Card")
    #expect(error.resource == "Spare")
    #expect(error.places == ["the shelf"])
    #expect(error.property == "Wallet.card")
    #expect(error.declaration == "PartialSpellTests/PartialErrorTests.swift:8")
    #expect(
      error.description.hasPrefix(
        "The Card for Wallet.card (PartialSpellTests/PartialErrorTests.swift:8) could not be loaded: there is no "
          + "resource \"Spare\"."))
    #expect(error.description.hasSuffix("\n  Searched: the shelf"))
  }

  @Test("says what to register if there is no loader")
  func noLoader() throws {
    let error = try error()
    #expect(error.code == .noLoader)
    #expect(error.underlying == nil)
    #expect(error.description.contains("registry.register((any PartialLoader).self)"))
    #expect(throws: PartialError.self) { try Wallet().$maybe.load() }
  }

  @Test("is not kept: the next read tries again")
  func retry() throws {
    let loader = NamingLoader(refusals: [.unreadable])
    registry.register((any PartialLoader).self) { loader }
    let wallet = Wallet()
    #expect(try error(of: wallet).code == .unreadable)
    #expect(!wallet.$card.hasValue)
    #expect(wallet.card.title == "Spare 2")
  }

  @Test("an Optional is nil without a resource, looks again, and throws any other error")
  func optional() throws {
    let loader = NamingLoader(refusals: [.notFound, .undecodable])
    registry.register((any PartialLoader).self) { loader }
    let wallet = Wallet()
    #expect(wallet.maybe == nil)
    #expect(!wallet.$maybe.hasValue)
    let error = try #require(throws: PartialError.self) { try wallet.$maybe.load() }
    #expect(error.code == .undecodable)
    #expect(wallet.maybe?.title == "Card 3")
  }

  @Test("has the loader's own error")
  func ownError() throws {
    final class Numbers { @Partial var number: Int }
    registry.register((any PartialLoader).self) { NamingLoader() }
    let error = try #require(throws: PartialError.self) { try Numbers().$number.load() }
    #expect(error.code == .loaderFailed)
    #expect(error.underlying is NamingLoader.Unsuitable)
    #expect(error.property == "Numbers.number")
  }

  @Test("has the error of a loader that can't be created")
  func loaderNotMade() throws {
    struct Offline: Error {}
    registry.register((any PartialLoader).self) { () throws -> any PartialLoader in throw Offline() }
    let error = try error()
    #expect(error.code == .loaderFailed)
    #expect((error.underlying as? InjectionError)?.underlying is Offline)
  }

  @Test("has the error of the type's registered initializer")
  func initializerFailed() throws {
    struct Offline: Error {}
    registry.register(Card.self) { () throws -> Card in throw Offline() }
    let error = try error()
    #expect(error.code == .notMade)
    #expect((error.underlying as? InjectionError)?.underlying is Offline)
    #expect(error.description.contains("Offline"))
  }

  @Test("names the property that was read, and has the error of another property")
  func otherProperty() throws {
    struct Following: PartialLoader {
      func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
        guard resource == "Spare" else {
          _ = try Wallet().$card.load()
          throw NamingLoader.Unsuitable()
        }
        throw PartialError(.notFound, of: type, resource: resource)
      }
    }
    registry.register((any PartialLoader).self) { Following() }
    let byLoader = try #require(throws: PartialError.self) { try Wallet().$maybe.load() }
    #expect(byLoader.code == .loaderFailed)
    #expect(byLoader.property == "Wallet.maybe")
    #expect((byLoader.underlying as? PartialError)?.property == "Wallet.card")

    final class Holder { @Partial var number: Int }
    registry.register(Int.self) {
      _ = try Wallet().$card.load()
      return 1
    }
    let byInitializer = try #require(throws: PartialError.self) { try Holder().$number.load() }
    #expect(byInitializer.code == .notMade)
    #expect(byInitializer.property == "Holder.number")
  }

  @Test("an initializer that needs its own result throws instead of hanging")
  func cycle() throws {
    registry.register(Card.self) { try $0.resolve(Card.self) }
    #expect((try error().underlying as? InjectionError)?.code == .cycle)
  }

  @Test("stops the program at a read, with the whole error and the location of the declaration")
  func trap() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry.shared.register((any PartialLoader).self) { NamingLoader(refusals: [.notFound]) }
      _ = Wallet().card
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("The Card for Wallet.card"))
    #expect(message.contains("Searched: the shelf"))
    #expect(message.contains("`try $card.load()`"))
    #expect(message.contains("PartialErrorTests.swift:8"))
  }

  @Test("stops the program with the call to write if reflection doesn't show the property's name")
  func trapWithoutName() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Hidden: CustomReflectable {
        @Partial var card: Card
        var customMirror: Mirror { Mirror(self, children: []) }
      }
      _ = Hidden().card
    }
    #expect(text(result.standardErrorContent).contains("`try $property.load()`"))
  }

  @Test("stops the program in a struct with the location of the declaration")
  func trapInStruct() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Holder { @Partial var card: Card }
      _ = Holder().card
    }
    let message = text(result.standardErrorContent)
    #expect(
      message.contains("The Card for the @Partial property declared at PartialSpellTests/PartialErrorTests.swift:"))
  }

  @Test("a hook for another class than the enclosing one stops the program with a message")
  func wrongHook() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Holder {
        @Partial(onInjection: { (_: Wallet, _: Card) in }) var card: Card
      }
      InitializerRegistry.shared.register((any PartialLoader).self) { NamingLoader() }
      _ = Holder().card
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("A property of type Card in Holder has a hook for Wallet."))
    #expect(message.contains("PartialErrorTests.swift:"))
  }

  @Test("a property that its own loader resets gives its reader the loaded value, and loads again for the next")
  func resetWhileLoading() {
    let (registry, loads) = (InitializerRegistry(), Counter())
    registry.register(
      Card.self,
      .in(Wallet.self) { wallet in
        let load = loads.increment()
        if load == 1 { wallet.$card.reset() }
        return Card(title: "Card \(load)")
      })
    let wallet = registry.run { Wallet() }
    #expect(wallet.card.title == "Card 1")
    #expect(!wallet.$card.hasValue)
    #expect(wallet.card.title == "Card 2")
    #expect(wallet.card.title == "Card 2")
  }
}
