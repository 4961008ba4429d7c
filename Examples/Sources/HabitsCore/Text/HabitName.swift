import Foundation

extension String {
  /// Returns the name without surrounding spaces.
  ///
  /// - Throws: `HabitError.unusableName` if the result is empty or has more than one line.
  func asHabitName() throws(HabitError) -> String {
    let name = trimmingCharacters(in: .whitespacesAndNewlines)
    let isPrintable = !name.unicodeScalars.contains { $0.properties.generalCategory == .control || $0.isLineSeparator }
    guard name.displayWidth > 0, isPrintable else { throw .unusableName(self) }
    return name
  }

  /// Returns whether two names are equal, ignoring case.
  func matches(_ name: String) -> Bool { lowercased() == name.lowercased() }

  /// Returns the name with the smallest edit distance to this string, or nil if `names` is empty.
  func nearest(among names: [String]) -> String? {
    let letters = Array(lowercased())
    return names.min { letters.distance(to: Array($0.lowercased())) < letters.distance(to: Array($1.lowercased())) }
  }
}

extension [Character] {
  /// Returns the number of letters to insert, remove or replace to turn this word into `word`.
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
