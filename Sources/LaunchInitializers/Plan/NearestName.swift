/// Finds the name that a misspelt one was meant to be.
enum NearestName {
  /// The nearest of the names, if it is near enough to be meant; the first of several.
  ///
  /// Costs the product of the lengths for each name of about the same length.
  static func to(_ name: String, among names: [String]) -> String? {
    let wanted = Array(name.lowercased().utf8)
    var limit = max(1, wanted.count / 3)
    var nearest: String?
    for candidate in names.sorted() where candidate != name {
      let other = Array(candidate.lowercased().utf8)
      guard abs(other.count - wanted.count) <= limit else { continue }
      let distance = distance(from: wanted, to: other)
      guard distance <= limit else { continue }
      nearest = candidate
      limit = distance - 1
      if limit < 0 { break }
    }
    return nearest
  }

  /// How many insertions, removals and replacements lead from one to the other (Levenshtein's distance).
  private static func distance(from a: [UInt8], to b: [UInt8]) -> Int {
    var row = Array(0...b.count)
    for (i, left) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, right) in b.enumerated() {
        let replaced = diagonal + (left == right ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
      }
    }
    return row[b.count]
  }
}
