internal import Support

/// A namespace for the check whether an instance has a supertype, with a cache of the results.
enum Supertypes {
  private struct Pair: Hashable, Sendable {
    let type: ObjectIdentifier
    let supertype: ObjectIdentifier
  }
  private static let known = Lock<[Pair: Bool]>([:])

  /// Returns whether `supertype` is the value's type, a superclass of that type, or a protocol to which it conforms.
  ///
  /// A conformance that is isolated to an actor doesn't count. An Optional has the supertypes of the value that it
  /// wraps, and nil has no supertypes.
  static func has(_ value: Any, _ supertype: any Any.Type) -> Bool {
    if let optional = value as? any OptionalValue { return optional.content.map { has($0, supertype) } ?? false }
    let pair = Pair(type: ObjectIdentifier(type(of: value)), supertype: ObjectIdentifier(supertype))
    if let known = known.withLock({ $0[pair] }) { return known }
    var answer = false
    // A cast on an actor also finds the conformances that are isolated to the actor, so this cast runs outside of any
    // actor, on a thread of its own. A thread of a pool might never come: all of them may be waiting here, and a forked
    // child has none.
    onNewThread {
      let cell = ValueCell(supertype)
      guard cell.memory.put(value, as: supertype) else { return }
      cell.gate.settle(as: CreationGate.ready)
      // A cast also succeeds if it boxes a struct in an object or converts an array's elements. Such a cast changes the
      // dynamic type, and doesn't show that the value has the supertype.
      answer = dynamicType(of: cell.memory.any(supertype)) == dynamicType(of: value)
    }
    known.withLock { $0[pair] = answer }
    return answer
  }

  /// Returns the dynamic type of a value or, for an Optional, of the value that it wraps.
  private static func dynamicType(of value: Any) -> any Any.Type {
    (value as? any OptionalValue)?.content.map { dynamicType(of: $0) } ?? type(of: value)
  }
}
