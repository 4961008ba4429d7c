import Spellbook
import TestSupport
import Testing

@testable import SpellDiagnostics

@Suite("The wrapped properties of a program", .enabled(if: WrappedProperty.isSupported), .timeLimit(.hang))
struct WrappedPropertyTests {
  let properties = WrappedProperty.all(inModules: "SpellDiagnosticsTests")

  private func property(_ description: String) throws -> WrappedProperty {
    try #require(properties.first { $0.description == description }, "\(properties)")
  }

  @Test("are listed once each, whatever kind of type they are in, with their wrapper")
  func listed() {
    let found = properties.map { "\($0.wrapper) \($0)" }
    for expected in [
      "Injected Office.courier", "Injected Branch.address", "Injected Clerk.courier", "Injected Window.lamp",
      "Injected Desk.lamp", "Lazy Desk.note", "Lazy Hidden.Archive.lamp", "Lazy Hidden.Archive.files",
      "Final Hidden.Archive.Shelf.number", "Partial Hidden.Archive.Index.theme", "Preference String.Reader.position",
      "Injected Constants.courier", "Injected OfInts.address", "Injected Local.lamp", "Custom Widget.number",
      "Silent Widget.count",
    ] {
      #expect(found.count { $0 == expected } == 1, "\(expected) in \(found)")
    }
    #expect(!found.contains { $0.contains("Plain") || $0.contains("drawer") || $0.contains("Generic") })
  }

  @Test("have their type, their container and its module")
  func facts() throws {
    let courier = try property("Office.courier")
    #expect(courier.name == "courier" && courier.module == "SpellDiagnosticsTests")
    func isType(_ type: any Any.Type, _ other: any Any.Type) -> Bool { type == other }
    #expect(isType(courier.valueType, (any Courier).self) && isType(courier.containerType, Office.self))
    #expect(isType(try property("Window.lamp").valueType, Lamp?.self))
    #expect(isType(try property("Desk.lamp").containerType, Desk.self))
    #expect(isType(try property("Widget.count").valueType, Int.self))
    #expect(isType(try property("OfInts.address").containerType, OfInts.self))
  }

  @Test(
    "show what they need, as far as their type does",
    arguments: [
      ("Office.courier", PropertyNeed.Necessity.required), ("Window.lamp", .optional),
      ("Hidden.Archive.lamp", .unknown),
      ("Hidden.Archive.files", .unknown), ("Hidden.Archive.Shelf.number", .unknown),
      ("Hidden.Archive.Index.theme", .required), ("String.Reader.position", .optional), ("Widget.number", .required),
      ("Widget.count", .unknown),
    ])
  func need(_ description: String, necessity: PropertyNeed.Necessity) throws {
    #expect(try property(description).necessity == necessity)
  }

  @Test("are those of the modules that are named, or of all")
  func modules() {
    #expect(WrappedProperty.all(inModules: "NoSuchModule").isEmpty)
    #expect(WrappedProperty.all(inModules: "NoSuchModule", "SpellDiagnosticsTests").count == properties.count)
    #expect(Set(WrappedProperty.all().map(\.description)).isSuperset(of: properties.map(\.description)))
  }

  @Test("are the same for every thread that lists them at once")
  func threads() async {
    let names = properties.map(\.description)
    await withTaskGroup(of: [String].self) { group in
      for _ in 0..<8 { group.addTask { WrappedProperty.all(inModules: "SpellDiagnosticsTests").map(\.description) } }
      for await others in group { #expect(others == names) }
    }
  }
}
