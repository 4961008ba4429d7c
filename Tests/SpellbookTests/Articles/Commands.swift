import Foundation
import SpellTesting
import Spellbook
import Synchronization
import Testing

/// The samples of the article of this name, with stand-ins for swift-argument-parser.
@Suite("Commands and Codable types", .registry) struct Commands {
  let registry = InitializerRegistry.current

  protocol Tracker: Sendable { var name: String { get } }
  struct FakeTracker: Tracker { let name: String }

  struct Draft: Codable {
    var text = ""
    @Injected var tracker: any Tracker

    enum CodingKeys: String, CodingKey { case text }
  }

  @Test("a Codable type with coding keys for the other properties is decoded with its wrapped property as declared")
  func codable() throws {
    registry.register((any Tracker).self) { FakeTracker(name: "fake") }

    let json = Data(#"{"text": "Hello"}"#.utf8)
    let draft = try JSONDecoder().decode(Draft.self, from: json)
    #expect(draft.text == "Hello")
    #expect(draft.tracker.name == "fake")

    #expect(String(decoding: try JSONEncoder().encode(draft), as: UTF8.self) == #"{"text":"Hello"}"#)
  }

  final class Notebook: Sendable {
    private let content = Mutex<[String]>([])
    var lines: [String] { content.withLock(\.self) }
    func add(_ line: String) { content.withLock { $0.append(line) } }
  }

  struct Add: ParsableCommand {
    @Argument var text: String
    @Flag var isUrgent = false
    @Injected var notebook: Notebook

    enum CodingKeys: String, CodingKey { case text, isUrgent }

    mutating func run() throws {
      notebook.add(isUrgent ? "! \(text)" : text)
    }
  }

  @Test("a command gets its services from the registry, and its arguments from the parser")
  func command() throws {
    registry.register(Notebook.self, scope: .singleton) { Notebook() }

    var command = try Add.parse(["tea", "--is-urgent"])
    try command.run()
    #expect(command.notebook.lines == ["! tea"])
  }
}

/// A command that is decoded from its arguments, as swift-argument-parser's are.
protocol ParsableCommand: Decodable {
  init()
  mutating func run() throws
}

extension ParsableCommand {
  static func parse(_ arguments: [String]) throws -> Self {
    let object: [String: Any] = ["text": arguments[0], "isUrgent": arguments.contains("--is-urgent")]
    return try JSONDecoder().decode(Self.self, from: JSONSerialization.data(withJSONObject: object))
  }
}

@propertyWrapper struct Argument<Value: Decodable>: Decodable {
  private var value: Value?
  init() {}
  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
  var wrappedValue: Value {
    get { value! }
    set { value = newValue }
  }
}

@propertyWrapper struct Flag: Decodable {
  var wrappedValue: Bool
  init(wrappedValue: Bool) { self.wrappedValue = wrappedValue }
  init(from decoder: any Decoder) throws { wrappedValue = try Bool(from: decoder) }
}
