import Foundation

extension String {
  /// The name without spaces around it.
  ///
  /// - Throws: `HabitError.unusableName` if nothing or more than one line would be left.
  func asHabitName() throws(HabitError) -> String {
    let name = trimmingCharacters(in: .whitespacesAndNewlines)
    let isPrintable = !name.unicodeScalars.contains { $0.properties.generalCategory == .control || $0.isLineSeparator }
    guard name.displayWidth > 0, isPrintable else { throw .unusableName(self) }
    return name
  }

  /// Whether two names are the same to a person: upper and lower case don't matter.
  func matches(_ name: String) -> Bool { lowercased() == name.lowercased() }

  /// The name with the fewest letters to change.
  func nearest(among names: [String]) -> String? {
    let letters = Array(lowercased())
    return names.min { letters.distance(to: Array($0.lowercased())) < letters.distance(to: Array($1.lowercased())) }
  }
}

extension [Character] {
  /// Returns the number of letters to insert, remove or replace to get from one word to the other.
  fileprivate func distance(to word: [Character]) -> Int {
    var row = Array<Int>(0...word.count)
    for (index, letter) in enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, other) in word.enumerated() {
        let replaced = diagonal + (letter == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[word.count]
  }
}

extension Unicode.Scalar {
  fileprivate var isLineSeparator: Bool {
    [.lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
  }
}
