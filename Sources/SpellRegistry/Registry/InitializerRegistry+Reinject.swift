public import Synchronization

extension InitializerRegistry {
  /// Gives live `@Injected` properties of this type, and Optionals of it, the value that is registered now.
  ///
  /// Each property takes it at its next read, in its own isolation, with hooks and all; so nothing is kept alive by
  /// this, no list of objects is needed, and an actor's or main-actor object's properties are touched by itself only.
  /// What was assigned by hand stays, and so does a value for which nothing is registered any more. Reaches the
  /// properties of objects made under this registry or one below it.
  ///
  /// Costs one atomic addition here, and one more look at the first read of every injected property after it.
  public func reinject<Value>(_ type: Value.Type) { generations.reinject(type) }
}

extension InitializerRegistry {
  /// The word that values of the latest generation have, under the registry that took the shared one's place, if any.
  @usableFromInline static func currentWord(where override: InitializerRegistry?) -> UnsafePointer<Atomic<UInt>> {
    // Apart, since one of the two as a value would be retained.
    if let override { return override.generations.current }
    return shared.generations.current
  }
}

extension PropertyStorage {
  /// Whether the value behind `word` was injected before its type was last re-injected; if not, the word is brought
  /// up to date, so that the next read is a fast one again.
  func isOutdated(_ word: UInt) -> Bool {
    let current = word & CreationGate.tags | latestGeneration
    if current == word { return false }
    let wrapped = (Value.self as? any OptionalValue.Type)?.wrappedType
    let isOutdated =
      !record.pointee.isByHand.load(ordering: .relaxed)
      && registry.generations.isOutdated(
        word & ~CreationGate.tags, of: [Value.self] + (wrapped.map { [$0] } ?? []))
    if !isOutdated {
      _ = record.pointee.gate.word.compareExchange(
        expected: word, desired: current, ordering: .acquiringAndReleasing)
    }
    return isOutdated
  }

  /// The generation that the latest re-injection began.
  var latestGeneration: UInt { record.pointee.current.pointee.load(ordering: .acquiring) & ~CreationGate.tags }
}
