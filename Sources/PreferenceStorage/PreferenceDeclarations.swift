internal import Support

/// The declarations that the program has used of the keys of one store, with the defaults that were made for them.
///
/// A default such as `UUID()` is made once, so that every read returns the same one while nothing is set.
package final class PreferenceDeclarations: Sendable {
  /// The place of a declaration in the source.
  package typealias Place = any Hashable & Sendable & CustomStringConvertible

  private struct Declaration: Sendable {
    let type: any Any.Type
    /// The place; nil for a declared key, which is the same wherever it is used.
    let place: Place?
    /// The default, in a `MadeDefault`; nil as long as none was made.
    var made: (any Sendable)?
  }
  private struct MadeDefault<Value: Sendable>: Sendable { let value: Value }

  private let declarations = Lock<[String: [Declaration]]>([:])
  /// The largest number of keys; after that many, all are forgotten, and defaults are made again.
  ///
  /// Without a limit, a program that has a key for each of its users would grow without end.
  private static let limit = 10_000

  /// Notes that a key is declared with a type at a place.
  package func note<Value>(_ type: Value.Type, forKey key: String, at place: Place) {
    declarations.withLock { _ = PreferenceDeclarations.index(of: type, forKey: key, at: place, in: &$0) }
  }

  /// Returns the first default that was made for the key with this type at this place in the source.
  package func defaultValue<Value: Sendable>(forKey key: String, at place: Place?, make: () -> Value) -> Value {
    func made(_ found: Declaration) -> Value? { (found.made as? MadeDefault<Value>)?.value }
    let known = declarations.withLock { all in
      made(all[key]![PreferenceDeclarations.index(of: Value.self, forKey: key, at: place, in: &all)])
    }
    if let known { return known }
    // No lock is held meanwhile, because the default may read preferences. If two threads make one, the first is kept.
    let new = make()
    return declarations.withLock { all in
      let index = PreferenceDeclarations.index(of: Value.self, forKey: key, at: place, in: &all)
      if let first = made(all[key]![index]) { return first }
      all[key]![index].made = MadeDefault(value: new)
      return new
    }
  }

  /// Returns a sentence that names a declaration of the key with another type; nil if there is none.
  package func conflict(with type: (some Any).Type, forKey key: String) -> String? {
    let other = declarations.withLock { $0[key]?.first { $0.place != nil && $0.type != type } }
    return other.map { "The key is declared as \($0.type) at \($0.place!): give one of the two another key" }
  }

  /// Returns the index of the declaration among those of the key, to which it is added if it is new.
  private static func index<Value>(
    of type: Value.Type, forKey key: String, at place: Place?, in all: inout [String: [Declaration]]
  ) -> Int {
    let found = all[key]?.firstIndex { $0.type == type && isSame($0.place, place) }
    if let found { return found }
    if all[key] == nil, all.count == limit { all.removeAll() }
    all[key, default: []].append(Declaration(type: type, place: place))
    return all[key]!.count - 1
  }

  private static func isSame(_ one: Place?, _ other: Place?) -> Bool {
    func isEqual<One: Hashable>(_ one: One) -> Bool { (other as? One) == one }
    return one.map { isEqual($0) } ?? (other == nil)
  }
}
