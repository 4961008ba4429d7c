internal import Support

/// The declarations that the program has used for the keys of one store, and the default values made for them.
///
/// The first default that is made for a declaration is kept. Every read therefore returns the same default, such as
/// one random `UUID()`, until the key is set. All kept defaults are discarded if there are more keys than `limit`.
package final class PreferenceDeclarations: Sendable {
  /// The position of a declaration in the source code.
  package typealias Place = any Hashable & Sendable & CustomStringConvertible

  private struct Declaration: Sendable {
    let type: any Any.Type
    /// The declaration's position in the source; nil if a `PreferenceKey` declares the default.
    ///
    /// All instances of `PreferenceKey` with the same name and type share one default.
    let place: Place?
    /// The default value, wrapped in a `MadeDefault`; nil until a default is made.
    var made: (any Sendable)?
    /// The default in the source, for comparison with that of other declarations; nil in release builds.
    var inSource: DefaultInSource?
  }
  private struct DefaultInSource: Sendable {
    /// The identity of the `PreferenceKey` with the default; nil if the declaration itself has the default.
    let key: ObjectIdentifier?
    /// Returns the default as JSON text; nil if it can't be encoded.
    let text: @Sendable () -> String?
  }
  private struct MadeDefault<Value: Sendable>: Sendable { let value: Value }

  private let declarations = Lock<[String: [Declaration]]>([:])
  /// The maximum number of keys with declarations.
  ///
  /// Before one more key is added, all declarations and defaults are discarded. Without a limit, a program that has a
  /// key for each of its users would need more and more memory.
  private static let limit = 10_000

  /// Records that a key is declared with a type at a position in the source.
  package func note<Value>(_ type: Value.Type, forKey key: String, at place: Place) {
    withDeclaration(of: type, forKey: key, at: place) { _ in }
  }

  /// Records the default of a declaration, and returns a warning if another declaration of the key has a different one.
  ///
  /// Only debug builds call this method, and only the first call for a declaration compares defaults.
  ///
  /// - Parameter declared: The `PreferenceKey` with the default; nil if the declaration itself has the default.
  package func warning<Value: Encodable & Sendable>(
    onDefaultOfKey key: String, at place: Place, _ declared: AnyObject?, make: @escaping @Sendable () -> Value
  ) -> String? {
    let own = DefaultInSource(key: declared.map { ObjectIdentifier($0) }) { try? JSONText(encoding: make()).string }
    let isNew = withDeclaration(of: Value.self, forKey: key, at: place) { declaration in
      defer { declaration.inSource = declaration.inSource ?? own }
      return declaration.inSource == nil
    }
    if !isNew { return nil }
    let all = declarations.withLock { $0[key] ?? [] }
    let other = all.first { other in
      guard let otherPlace = other.place, let theirs = other.inSource, other.type == Value.self,
        !PreferenceDeclarations.isSame(otherPlace, place), own.key == nil || theirs.key != own.key
      else { return false }
      return theirs.text() != own.text()
    }
    return other.map { other in
      """
      The preference \(key.debugDescription) has two declarations with different defaults, at \(other.place!) and at \
      \(place). While no value is set, each reads its own. Declare the key once, as a PreferenceKey, or give one of the \
      two another key.
      """
    }
  }

  /// Returns the kept default of this key, type and position; if there is none, makes a default and keeps it.
  package func defaultValue<Value: Sendable>(forKey key: String, at place: Place?, make: () -> Value) -> Value {
    func made(_ found: Declaration) -> Value? { (found.made as? MadeDefault<Value>)?.value }
    if let known = withDeclaration(of: Value.self, forKey: key, at: place, { made($0) }) { return known }
    // No lock is held, because `make` may read preferences. If two threads make a default, the default that is stored
    // first is kept.
    let new = make()
    return withDeclaration(of: Value.self, forKey: key, at: place) { declaration in
      if let first = made(declaration) { return first }
      declaration.made = MadeDefault(value: new)
      return new
    }
  }

  /// Returns a message about a property that declares the key with another type, or nil if there is none.
  package func conflict(with type: (some Any).Type, forKey key: String) -> String? {
    let other = declarations.withLock { $0[key]?.first { $0.place != nil && $0.type != type } }
    return other.map { "The key is declared as \($0.type) at \($0.place!): give one of the two another key" }
  }

  /// Calls `body` with a declaration in the key's list of declarations, to which it is added if it is new.
  private func withDeclaration<Result: Sendable>(
    of type: any Any.Type, forKey key: String, at place: Place?, _ body: (inout Declaration) -> Result
  ) -> Result {
    var discarded: [String: [Declaration]] = [:]
    let result = declarations.withLock { all in
      if all[key] == nil, all.count == PreferenceDeclarations.limit { swap(&all, &discarded) }
      let known = all[key]?.firstIndex { $0.type == type && PreferenceDeclarations.isSame($0.place, place) }
      if known == nil { all[key, default: []].append(Declaration(type: type, place: place)) }
      return body(&all[key]![known ?? all[key]!.count - 1])
    }
    // Discarded defaults are released after the unlock, because their deinitializers may read preferences.
    withExtendedLifetime(discarded) {}
    return result
  }

  private static func isSame(_ one: Place?, _ other: Place?) -> Bool {
    func isEqual<One: Hashable>(_ one: One) -> Bool { (other as? One) == one }
    return one.map { isEqual($0) } ?? (other == nil)
  }
}
