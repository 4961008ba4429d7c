import FinalSpell
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

private class Document: InjectionObserver {
  @Final var id: Int
  @Final var service: Service
  @Final var optional: Service?
  @Final var kind = "draft"
  var heard: [String] = []
  func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
}
private final class Letter: Document {}

@Suite("A read before the assignment", .registry, .timeLimit(.hang)) struct ReadTests {
  private var registry: InitializerRegistry { .current }

  @Test("a read before the assignment stops the program with the name, the type and what to do")
  func stopsTheProgramWithTheNameTheTypeAndWhatToDo() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Document().id
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("No initializer is registered for Int for Document.id"))
    #expect(message.contains("It was read before it was assigned. Assign it first, or look at $id.hasValue before"))
    #expect(message.contains("ReadTests.swift:"))
  }

  @Test("a read before the assignment names the dependency that the registered initializer lacks")
  func namesAMissingDependency() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let registry = InitializerRegistry()
      registry.register(Int.self) { Int(try $0.resolve(Double.self)) }
      _ = registry.run { Document() }.id
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Double"))
    #expect(message.contains("Document.id"))
    #expect(!message.contains("It was read before it was assigned"))
  }

  @Test("a read before the assignment says that the registry is gone")
  func saysThatTheRegistryIsGone() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let document = InitializerRegistry().run {
        InitializerRegistry.current.register(Int.self) { 1 }
        return Document()
      }
      _ = document.id
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("The registry that this property of type Int asks is gone"))
    #expect(message.contains("Assign it first, or look at $id.hasValue before"))
  }

  @Test("a read before the assignment suggests only functions that the property has")
  func suggestsWhatThePropertyHas() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Offline: Error {}
      InitializerRegistry.shared.register(Int.self) { throw Offline() }
      _ = Document().id
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("threw Offline()"))
    #expect(message.contains("do { try registry.resolve(Int.self) } catch"))
    #expect(!message.contains("$id.resolve"))
  }

  @Test("a test gets the message of a read before the assignment as an issue")
  func isReportedToATest() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let registry = InitializerRegistry(context: .test)
      registry.reporter?.receivers.withLock {
        $0.onFailure = { message, _ in writeToStandardError("reported: \(message)") }
      }
      registry.run { _ = Document().id }
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("reported: No initializer is registered for Int for Document.id"))
  }

  @Test("a read of a constant before the assignment says what to look at")
  func ofAConstant() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Final<Int>().value
    }
    #expect(text(result.standardErrorContent).contains("(of a constant, constant.hasValue)"))
  }

  @Test("a read before the assignment in a struct names the place")
  func inAStructNamesThePlace() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Value { @Final var id: Int }
      _ = Value().id
    }
    #expect(
      text(result.standardErrorContent).contains("(FinalSpellTests/ReadTests.swift:"))
  }

  @Test("a read before the assignment uses the registered value as the one assignment")
  func takesWhatIsRegisteredAsTheOneAssignment() {
    registry.register(Int.self, .in(Document.self) { _ in 99 })
    let document = Document()
    #expect(document.id == 99)
    #expect(document.heard == ["id"])
    #expect(throws: FinalError.self) { try document.$id.assign(1) }
  }

  @Test("a read before the assignment uses the most specific registration of the object's registry")
  func asksTheMostSpecificRegistrationOfTheRegistryOfItsMaking() {
    let parent = InitializerRegistry()
    parent.register(Service.self, .in(Document.self, subclasses: true) { _ in Service("parent") })
    let child = InitializerRegistry(parent: parent)
    child.register(Service.self, named: "service") { Service("child, named") }
    child.register { Service("child") }
    let (document, letter) = (child.run { Document() }, parent.run { Letter() })
    #expect(document.service.label == "child, named")
    #expect(letter.service.label == "parent")
  }

  @Test("a read of an Optional before the assignment asks again")
  func ofAnOptionalAsksAgain() {
    let document = Document()
    #expect(document.optional == nil)
    registry.register { Service("later") }
    #expect(document.optional?.label == "later")
    #expect(document.$optional.hasValue)
  }

  @Test("the projection's value doesn't ask the registry")
  func doesNotHappenThroughTheProjection() {
    let asked = Counter()
    registry.register(Int.self) { asked.increment() }
    let document = Document()
    #expect(document.$id.value == nil)
    #expect(!document.$id.hasValue)
    #expect(asked.value == 0)
  }

  @Test("a read of a declared value doesn't ask the registry")
  func ofADeclaredValueAsksNobody() {
    registry.register(String.self, .in(Document.self) { _ in "registered" })
    let document = Document()
    #expect(document.kind == "draft")
    #expect(document.heard == [])
  }

  @Test("a read whose initializer fails stops the program with the reason")
  func thatFailsStopsTheProgramWithTheReason() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Refusal: Error {}
      InitializerRegistry.shared.register(Int.self) { throw Refusal() }
      _ = Document().id
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Document.id"))
    #expect(message.contains("threw Refusal()"))
  }

  @Test("an initializer that assigns its own property gets an error")
  func whoseInitializerAssignsThePropertyThrowsThere() {
    registry.register(
      Int.self,
      .in(Document.self) { document in
        let error = #expect(throws: FinalError.self) { try document.$id.assign(1) }
        #expect(error?.code == .beingMade)
        #expect(error?.property == "Document.id")
        return 2
      })
    let document = Document()
    #expect(document.id == 2)
  }

  @Test("an initializer that assigns its own property by name stops the program")
  func whoseInitializerAssignsThePropertyByNameStopsTheProgram() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry.shared.register(
        Int.self,
        .in(Document.self) { document in
          document.id = 1
          return 2
        })
      _ = Document().id
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Document.id, of type Int, is assigned while its own initializer makes"))
    #expect(message.contains("Return the value"))
  }

  @Test("re-injection leaves the value of a final property")
  func isNotTouchedByReinjection() {
    registry.register { Service("old") }
    let document = Document()
    #expect(document.service.label == "old")
    registry.register { Service("new") }
    registry.reinject(Service.self)
    #expect(document.service.label == "old")
  }
}

@Suite("Lifetime", .registry) struct LifetimeTests {
  @Test("a property never retains its enclosing object, and its value is released with it")
  func thePropertyNeverRetainsItsOwnerAndTheValueGoesWithIt() {
    InitializerRegistry.current.register(Service.self, .in(Document.self) { _ in Service() })
    var document: Document? = Document()
    weak let gone = document
    weak let service = document?.service
    document?.id = 1
    #expect(service != nil)
    document = nil
    #expect(gone == nil)
    #expect(service == nil)
  }

  @Test("the values of failed assignments are released")
  func theLosersOfAnAssignmentAreReleased() {
    let document = Document()
    document.service = Service("winner")
    weak var loser: Service?
    do {
      let service = Service("loser")
      loser = service
      #expect(throws: FinalError.self) { try document.$service.assign(service) }
    }
    #expect(loser == nil)
  }
}

@Suite("Under a race", .registry, .timeLimit(.hang)) struct RaceTests {
  // `@unchecked Sendable`: the atomic `gate` of each property's storage guards its one assignment.
  private final class Shared: @unchecked Sendable {
    @Final var winner: Service
    @Final var number: Int
  }
  private var registry: InitializerRegistry { .current }

  @Test("of a thousand assignments one succeeds")
  func ofAThousandAssignmentsOneWins() async {
    let shared = Shared()
    let wins = await race(1_000) { number in
      (try? shared.$number.assign(number)) == nil ? nil : number
    }
    #expect(wins.compactMap(\.self) == [shared.number])
  }

  @Test("readers see no value or the whole assigned value")
  func readersSeeNothingOrTheWinnerWhole() async {
    let shared = Shared()
    let seen = await race(1_000) { index in
      if index % 2 == 0 { try? shared.$winner.assign(Service("\(index)")) }
      return shared.$winner.value?.label
    }
    #expect(Set(seen.compactMap(\.self)) == [shared.winner.label])
  }

  @Test("either the assignment or the registration provides the value")
  func anAssignmentOrTheRegistrationWinsNotBoth() async {
    let made = Counter()
    registry.register(Service.self, .in(Shared.self) { _ in Service("made \(made.increment())") })
    let all = (0..<100).map { _ in Shared() }
    let seen = await race(1_000) { index in
      let shared = all[index % 100]
      if index >= 500 { try? shared.$winner.assign(Service("assigned \(index)")) }
      return (index % 100, shared.winner.label)
    }
    for (index, shared) in all.enumerated() {
      #expect(Set(seen.filter { $0.0 == index }.map(\.1)) == [shared.winner.label])
    }
  }

  @Test("a constant is assigned once")
  func aConstantIsAssignedOnce() async {
    let constant = Final<Int>()
    let wins = await race(1_000) { number in (try? constant.assign(number)) != nil }
    #expect(wins.count { $0 } == 1)
  }
}
