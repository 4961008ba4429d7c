package import Spellbook

/// A habit and the days on which it was done, as it is in the book.
package struct Habit: Codable, Equatable, Sendable {
  /// Never changes, and no other habit ever gets it.
  package let number: Int
  package var name: String
  package var days: Set<Day> = []

  enum CodingKeys: CodingKey { case number, name, days }

  init(number: Int, name: String) {
    self.number = number
    self.name = name
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    number = try container.decode(Int.self, forKey: .number)
    name = try container.decode(String.self, forKey: .name)
    days = try container.decode(Set<Day>.self, forKey: .days)
  }

  /// Writes the days in order, so that a person can read them in the file.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
    try container.encode(name, forKey: .name)
    try container.encode(days.sorted(), forKey: .days)
  }
}

/// A habit that has yet to be added to the book, which then gives it its number.
package final class HabitDraft {
  package let name: String
  /// Read it once the habit is in the book.
  @Final package var number: Int

  package init(name: String) { self.name = name }
}
