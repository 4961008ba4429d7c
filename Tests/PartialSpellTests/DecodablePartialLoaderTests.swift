import Foundation
import PartialSpell
import TestSupport
import Testing

@MainActor private struct MainCard: @MainActor Decodable { let title: String }

@Suite("A loader of decodable values", .timeLimit(.hang)) struct DecodablePartialLoaderTests {
  let folder: TemporaryFolder
  let loader: DecodablePartialLoader

  init() throws {
    folder = try TemporaryFolder()
    loader = DecodablePartialLoader(folder: folder.url)
  }

  private func error(loading resource: String) throws -> PartialError {
    try #require(throws: PartialError.self) { try loader.load(Card.self, named: resource) }
  }

  @Test("reads JSON")
  func json() throws {
    try folder.write(#"{"title": "from JSON"}"#, to: "Card.json")
    #expect(try loader.load(Card.self, named: "Card").title == "from JSON")
  }

  @Test(
    "reads property lists, as text and binary", arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func propertyList(format: PropertyListSerialization.PropertyListFormat) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    let card = Card(title: "from a list & more", opened: Date(timeIntervalSince1970: 1))
    try folder.write(try encoder.encode(card), to: "Card.plist")
    #expect(try loader.load(Card.self, named: "Card") == card)
  }

  @Test("reads a type whose conformance is isolated to the main actor only there")
  func isolated() async throws {
    try folder.write(#"{"title": "main"}"#, to: "Card.json")
    let loader = loader
    #expect(try await MainActor.run { try loader.load(MainCard.self, named: "Card").title } == "main")
    let error = await Task.detached {
      #expect(throws: PartialError.self) { try loader.load(MainCard.self, named: "Card") }
    }.value
    #expect(error?.code == .unsupportedType)
  }

  @Test("prefers JSON if there are both, or the one that is named")
  func both() throws {
    try folder.write(#"{"title": "JSON"}"#, to: "Card.json")
    try folder.write(try PropertyListEncoder().encode(Card(title: "list")), to: "Card.plist")
    #expect(try loader.load(Card.self, named: "Card").title == "JSON")
    #expect(try loader.load(Card.self, named: "Card.plist").title == "list")
    #expect(try loader.load(Card.self, named: "Card.json").title == "JSON")
  }

  @Test("finds inner folders by a slash, and names with spaces and percent signs")
  func names() throws {
    try folder.write(#"{"title": "within"}"#, to: "cards/gold/Card.json")
    try folder.write(#"{"title": "spaced"}"#, to: "My 100% card.json")
    #expect(try loader.load(Card.self, named: "cards/gold/Card").title == "within")
    #expect(try loader.load(Card.self, named: "My 100% card").title == "spaced")
  }

  @Test("reads the file each time")
  func again() throws {
    try folder.write(#"{"title": "one"}"#, to: "Card.json")
    #expect(try loader.load(Card.self, named: "Card").title == "one")
    try folder.write(#"{"title": "two"}"#, to: "Card.json")
    #expect(try loader.load(Card.self, named: "Card").title == "two")
  }

  @Test("names both paths if there is neither")
  func notFound() throws {
    let error = try error(loading: "Card")
    #expect(error.code == .notFound)
    #expect(error.places == [folder.path(of: "Card.json"), folder.path(of: "Card.plist")])
    #expect(try self.error(loading: "Card.json").places == [folder.path(of: "Card.json")])
    #expect(try self.error(loading: "missing/folder/Card").code == .notFound)
    try folder.write("{}", to: "file")
    #expect(try self.error(loading: "file/Card").code == .notFound)
  }

  @Test("a file that can't be decoded is an error, and no other file is tried")
  func undecodable() throws {
    try folder.write(#"{"name": 1}"#, to: "Card.json")
    try folder.write(try PropertyListEncoder().encode(Card(title: "list")), to: "Card.plist")
    let error = try error(loading: "Card")
    #expect(error.code == .undecodable)
    #expect(error.places == [folder.path(of: "Card.json")])
    #expect(error.underlying is DecodingError)
  }

  @Test("a file that can't be read is an error, and not missing")
  func unreadable() throws {
    try folder.write("", to: "Card.json/a file in a folder")
    let error = try error(loading: "Card")
    #expect(error.code == .unreadable)
    #expect(error.places == [folder.path(of: "Card.json")])
    #expect(error.underlying != nil)
  }

  @Test("refuses a type that isn't Decodable")
  func unsupported() throws {
    final class Opaque {}
    let error = try #require(throws: PartialError.self) { try loader.load(Opaque.self, named: "Card") }
    #expect(error.code == .unsupportedType)
    #expect(error.description.contains("does not make a Opaque"))
  }

  @Test(
    "refuses a name that leads out of the folder, even for an Optional",
    arguments: ["../secret", "a/../../secret", "../", "./../secret.json", "/../secret"])
  func outside(name: String) throws {
    try folder.write(#"{"title": "secret"}"#, to: "secret.json")
    try folder.write(#"{"title": "inside"}"#, to: "inner/Card.json")
    let inner = DecodablePartialLoader(folder: folder.url.appending(path: "inner"))
    let error = try #require(throws: PartialError.self) { try inner.load(Card.self, named: name) }
    #expect(error.code == .loaderFailed)
    #expect(error.description.contains("leads out of the loader's folder"))
    #expect(try inner.load(Card.self, named: "./Card").title == "inside")
  }

  @Test("reads from a bundle's resources, and names the paths in it")
  func bundle() throws {
    try folder.write(#"{"title": "bundled"}"#, to: "Things.bundle/Card.json")
    let bundle = try #require(Bundle(url: folder.url.appending(path: "Things.bundle")))
    let loader = DecodablePartialLoader(bundle: bundle)
    #expect(try loader.load(Card.self, named: "Card").title == "bundled")
    let error = try #require(throws: PartialError.self) { try loader.load(Card.self, named: "Other") }
    #expect(error.code == .notFound)
    #expect(error.places.map { $0.hasSuffix("/Other.json") } == [true, false])
    #expect(error.places.allSatisfy { $0.contains("Things.bundle") })
  }
}
