import Foundation
import PartialSpell
import Synchronization

struct Card: Codable, Equatable, Sendable {
  var title: String
  var opened: Date?
}

/// Counts from any thread.
final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  @discardableResult func increment() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// Gives each `Card` the name of its resource and how often it was asked; refuses what it is told to refuse.
struct NamingLoader: PartialLoader {
  let asked = Counter()
  var refusals: [PartialError.Code] = []

  struct Unsuitable: Error {}

  func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
    let time = asked.increment()
    if time <= refusals.count {
      throw PartialError(refusals[time - 1], of: type, resource: resource, places: ["the shelf"])
    }
    guard let value = Card(title: "\(resource) \(time)") as? Value else { throw Unsuitable() }
    return value
  }
}

/// A folder that goes when this does.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "partials-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // A folder that is gone already is what this wants.
    _ = try? FileManager.default.removeItem(at: url)
  }

  func write(_ text: String, to file: String) throws { try write(Data(text.utf8), to: file) }

  func write(_ data: Data, to file: String) throws {
    let place = url.appending(path: file)
    try FileManager.default.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: place)
  }

  func path(of file: String) -> String { url.appending(path: file).path }
}

/// The text that a process wrote to its standard error.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
