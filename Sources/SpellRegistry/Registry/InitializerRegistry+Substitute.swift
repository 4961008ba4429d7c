internal import Locking

/// The registrations that substitutes keep behind them.
private let substituted = Lock<
  [ObjectIdentifier: (substitute: any AnyRegistrationEntry, former: any AnyRegistrationEntry)]
>([:])

extension InitializerRegistry {
  /// Registers an instance in place of the current registration of its type, which `unregister()` gives back.
  package func substitute<Value: Sendable>(
    instance: Value, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    let key = RegistrationKey(
      type: ObjectIdentifier(Value.self), container: nil, name: nil, servesSupertypes: false, arguments: nil)
    let entry = RegistrationEntry<Value>(
      key: key, scope: .unique, clock: clock, place: SourcePlace(fileID: fileID, line: line),
      initializer: .instance { instance })
    substituted.withLock { substituted in
      if let former = table.withLock({ $0.insert(entry) }) { substituted[ObjectIdentifier(entry)] = (entry, former) }
    }
    return Registration(entry: entry, registry: self)
  }

  /// Removes an entry, and gives back what it is a substitute for.
  func giveUp(_ entry: any AnyRegistrationEntry) {
    let isSubstitute = substituted.withLock { substituted in
      let former = substituted.removeValue(forKey: ObjectIdentifier(entry))?.former
      if let above = substituted.first(where: { $0.value.former === entry }) {
        substituted[above.key] = former.map { (above.value.substitute, $0) }
        return true
      }
      guard let former else { return false }
      table.withLock { if $0.remove(entry) { _ = $0.insert(former) } }
      return true
    }
    if !isSubstitute { remove(entry) }
  }
}
