// What to say when nothing is registered: what comes near, and what to write.

extension InitializerRegistry {
  /// The error for a type that nothing serves here; looks at every registration, so it is for the way out only.
  func missing(
    _ type: any Any.Type, at point: InjectionPoint, notes: [String] = []
  ) -> InjectionError {
    let step = point.step(type)
    let advice = notes.isEmpty ? [Self.advice(for: type)] : notes
    return InjectionError(.notRegistered, through: [step], notes: nearMatches(type) + advice)
  }

  private static func advice(for type: any Any.Type) -> String {
    "Register it before it is asked for: registry.register(\(TypeName.source(of: type))) { … }"
  }

  private func nearMatches(_ type: any Any.Type) -> [String] {
    let wanted = TypeName.of(type)
    return reachableProviders.map(\.entry).compactMap { entry in
      if entry.fits(type) {
        return "An instance that would fit is registered at \(entry.place): add `as: .anySupertype` to it."
      }
      guard entry.key.type == ObjectIdentifier(type) || wanted.isSimilar(to: TypeName.of(entry.type)) else {
        return nil
      }
      return "Registered, but not for this: \(entry.summary), at \(entry.place)."
    }
  }
}

extension AnyRegistrationEntry {
  /// Whether this is an instance of the type that is registered for its own type only.
  fileprivate func fits(_ type: any Any.Type) -> Bool {
    key.type != ObjectIdentifier(type) && !key.servesSupertypes && key.container == nil && key.name == nil
      && serves(type)
  }

  /// The registration in a few words: `Clock in Page named "backup"`.
  var summary: String {
    var words = [TypeName.of(type)]
    if let container = key.container {
      words.append(
        "in \(TypeName.of(container.type))\(container.key.subclasses ? " and its subclasses" : "")")
    }
    if let name = key.name { words.append("named \(name.source)") }
    if key.arguments != nil { words.append("with arguments") }
    return words.joined(separator: " ")
  }
}

extension TypeName {
  /// As it is written where a type is a value: `Clock.self`, `(any Tracker).self`.
  package static func source(of type: any Any.Type) -> String {
    let name = of(type)
    return name.hasPrefix("any ") ? "(\(name)).self" : "\(name).self"
  }
}

extension String {
  /// Whether a person may have meant the one and written the other.
  package func isSimilar(to other: String) -> Bool {
    let (mine, others) = (bareName, other.bareName)
    if min(mine.count, others.count) >= 3 && (mine.contains(others) || others.contains(mine)) { return true }
    return mine.editDistance(to: others) <= max(mine.count, others.count) / 4
  }

  private var bareName: String {
    let name = hasPrefix("any ") ? dropFirst(4) : self[...]
    return name.lowercased()
  }

  /// How many characters to insert, remove or replace to get from one to the other (Levenshtein's distance).
  package func editDistance(to other: String) -> Int {
    let columns = Array(other)
    var row = Array(0...columns.count)
    for (index, character) in enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in columns.indices {
        let substituted = diagonal + (columns[column] == character ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(substituted, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[columns.count]
  }
}
