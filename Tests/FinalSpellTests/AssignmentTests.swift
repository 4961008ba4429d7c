import FinalSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Document {
  @Final var id: Int
  @Final var title: String?
  @Final var kind = "draft"
  @Final private var secret: String
  var hidden: String {
    get { secret }
    set { secret = newValue }
  }
}
private final class Letter: Document {
  @Final private var secret: String
  @Final var address: String
  var inner: String {
    get { secret }
    set { secret = newValue }
  }
}
private class Box<Content> {
  @Final var content: Content
}
private final class IntBox: Box<Int> {}

@Suite("An assignment", .registry, .timeLimit(.hang)) struct AssignmentTests {
  @Test("an assigned value stays")
  func givesTheValueThatStays() {
    let document = Document()
    #expect(!document.$id.hasValue)
    #expect(document.$id.value == nil)
    document.id = 1
    #expect(document.$id.hasValue)
    #expect(document.$id.value == 1)
    #expect(document.id == 1)
  }

  @Test("a value in the declaration is the one assignment")
  func inTheDeclarationIsTheOneAssignment() {
    let document = Document()
    #expect(document.kind == "draft")
    #expect(document.$kind.hasValue)
    #expect(throws: FinalError.self) { try document.$kind.assign("final") }
    #expect(document.kind == "draft")
  }

  @Test("a second assignment throws through the projection")
  func aSecondTimeThrowsThroughTheProjection() throws {
    let document = Document()
    try document.$id.assign(1)
    let error = try #require(throws: FinalError.self) { try document.$id.assign(2) }
    #expect(error.code == .alreadyAssigned)
    #expect(error.property == "Document.id")
    #expect(error.description.contains("Document.id, of type Int"))
    #expect(document.id == 1)
  }

  @Test("a second assignment stops the program with the name, the type and what to do")
  func aSecondTimeStopsTheProgramWithTheNameTheTypeAndWhatToDo() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let document = Document()
      document.id = 1
      document.id = 1
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Document.id, of type Int, is assigned already"))
    #expect(message.contains("Look at $id.hasValue first"))
    #expect(message.contains("AssignmentTests.swift:"))
  }

  @Test("an assignment of a property with a declared value stops the program")
  func ofADeclaredValueStopsTheProgram() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Document().kind = "letter"
    }
    #expect(text(result.standardErrorContent).contains("Document.kind, of type String, is assigned already"))
  }

  @Test("nil is an assignment")
  func ofNilIsAnAssignment() {
    let document = Document()
    #expect(document.title == nil)
    #expect(!document.$title.hasValue)
    document.title = nil
    #expect(document.$title.hasValue)
    #expect(throws: FinalError.self) { try document.$title.assign("late") }
  }

  @Test("an Optional that was read as nil can be assigned")
  func afterAnOptionalWasReadAsNilIsAllowed() {
    let document = Document()
    #expect(document.title == nil)
    document.title = "assigned"
    #expect(document.title == "assigned")
  }

  @Test("an assignment in a hierarchy reaches the property of its class")
  func inAHierarchyReachesThePropertyOfItsClass() {
    let letter = Letter()
    letter.hidden = "document's"
    letter.inner = "letter's"
    letter.address = "street"
    #expect(letter.hidden == "document's")
    #expect(letter.inner == "letter's")
    let error = #expect(throws: FinalError.self) { try letter.$address.assign("elsewhere") }
    #expect(error?.property == "Letter.address")
  }

  @Test("an assignment in a generic class and its subclass works")
  func inAGenericClassAndItsSubclassWorks() throws {
    let box = IntBox()
    box.content = 4
    #expect(box.content == 4)
    let error = try #require(throws: FinalError.self) { try box.$content.assign(5) }
    #expect(error.property == "IntBox.content")
  }

  @Test("an assignment in an actor works")
  func inAnActorWorks() async {
    actor Worker {
      @Final var id: Int
      func assign(_ id: Int) throws { try $id.assign(id) }
    }
    let worker = Worker()
    await #expect(throws: Never.self) { try await worker.assign(1) }
    await #expect(throws: FinalError.self) { try await worker.assign(2) }
    #expect(await worker.id == 1)
  }

  @Test("an assignment in a main-actor class works")
  @MainActor func inAMainActorClassWorks() {
    @MainActor final class Window { @Final var number: Int }
    let window = Window()
    window.number = 3
    #expect(window.number == 3)
  }

  @Test("a constant is assigned through its projection")
  func ofAPlainConstantGoesThroughItsProjection() throws {
    final class Shared: Sendable {
      let id = Final<Int>()
      static let global = Final(wrappedValue: "known")
    }
    let shared = Shared()
    #expect(!shared.id.hasValue)
    try shared.id.assign(7)
    #expect(shared.id.value == 7)
    let error = try #require(throws: FinalError.self) { try shared.id.assign(8) }
    #expect(error.description.contains("AssignmentTests.swift:"))
    #expect(Shared.global.value == "known")
  }

  @Test("an assignment works for a local variable")
  func inALocalWorks() {
    @Final var number: Int
    number = 2
    #expect(number == 2)
    #expect($number.hasValue)
  }
}

@Suite("A copy of a struct", .registry, .timeLimit(.hang)) struct StructCopyTests {
  private struct Value { @Final var id: Int }

  @Test("a copy of a struct is assigned independently")
  func hasValueApart() {
    let template = Value()
    var (first, second) = (template, template)
    first.id = 1
    second.id = 2
    #expect(first.id == 1)
    #expect(second.id == 2)
    #expect(!template.$id.hasValue)
  }

  @Test("a copy of a struct keeps the value that it was copied with")
  func keepsTheValueThatItWasCopiedWith() {
    var first = Value()
    first.id = 1
    let second = first
    #expect(second.id == 1)
    #expect(throws: FinalError.self) { try second.$id.assign(2) }
  }

  @Test("a copy of a struct can't be assigned if it was copied with a value")
  func cannotBeAssignedOnceItWasCopiedWithAValue() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var first = Value()
      first.id = 1
      var second = first
      second.id = 2
    }
    #expect(text(result.standardErrorContent).contains("of type Int, is assigned already"))
  }
}
