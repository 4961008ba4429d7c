import Foundation
import PartialSpell
import TestSupport

struct Card: Codable, Equatable, Sendable {
  var title: String
  var opened: Date?
}

/// A loader that gives each `Card` the name of its resource and the number of loads so far, and refuses the names that
/// a test chooses.
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
