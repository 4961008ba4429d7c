extension PreferenceStore {
  /// Brings the store to a version of the program's own counting, once.
  ///
  /// The body gets the version that the store has, 0 where it has none, and changes what has to be changed. It runs in
  /// one transaction with the new version's number, so it is done or not done, never half, and only once also when two
  /// processes start together. A store that has the version already, or a later one, is left as it is.
  ///
  /// The number is kept under the key `#version`.
  ///
  /// ```swift
  /// try store.migrate(to: 2) { version, changes in
  ///   if version < 1 { try changes.moveValue(forKey: "loudness", to: "volume") }
  ///   if version < 2 { changes.removeValue(forKey: "legacy") }
  /// }
  /// ```
  ///
  /// - Returns: whether the body ran.
  /// - Throws: what the body throws, after which nothing is changed and the next call tries again, or a
  ///   `PreferenceError`.
  @discardableResult
  public func migrate(
    to version: Int, _ body: (_ from: Int, _ changes: inout PreferenceTransaction) throws -> Void
  ) throws -> Bool {
    // Most starts of a program migrate nothing, and need no lock to know it.
    if try (value(Int.self, forKey: "#version") ?? 0) >= version { return false }
    return try transaction { changes in
      let old = try changes.value(Int.self, forKey: "#version") ?? 0
      guard old < version else { return false }
      try body(old, &changes)
      try changes.set(version, forKey: "#version")
      return true
    }
  }
}
