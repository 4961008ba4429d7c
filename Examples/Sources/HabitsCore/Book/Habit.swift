package import Spellbook

/// A habit in the `HabitBook`, with the days on which it was done.
package struct Habit: Codable, Equatable, Sendable {
  /// The number, which never changes and is never given to another habit.
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

  /// Writes the days in chronological order, so that the file is easy to read.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
    try container.encode(name, forKey: .name)
    try container.encode(days.sorted(), forKey: .days)
  }
}

/// A habit that isn't in the `HabitBook` yet.
///
/// `HabitBook.add(_:)` gives the draft its number.
package final class HabitDraft {
  package let name: String
  /// The number, which has no value until the habit is added to the `HabitBook`.
  @Final package var number: Int

  package init(name: String) { self.name = name }
}
