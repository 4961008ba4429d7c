internal import Support
#if canImport(Dispatch)
  internal import Dispatch
#endif

/// A check of the supertypes of instances, with a cache of its answers.
enum Supertypes {
  private struct Pair: Hashable, Sendable {
    let type: ObjectIdentifier
    let supertype: ObjectIdentifier
  }
  private static let known = Lock<[Pair: Bool]>([:])

  /// Returns whether a type is a superclass of a value's type, or a protocol to which the value's type conforms without
  /// isolation.
  ///
  /// An Optional has the supertypes of the value that it wraps; nil has none.
  static func has(_ value: Any, _ supertype: any Any.Type) -> Bool {
    if let optional = value as? any OptionalValue { return optional.content.map { has($0, supertype) } ?? false }
    let pair = Pair(type: ObjectIdentifier(type(of: value)), supertype: ObjectIdentifier(supertype))
    if let known = known.withLock({ $0[pair] }) { return known }
    let cell = ValueCell(supertype)
    // A conformance that is isolated to an actor exists on that actor only, so the cast runs outside of any actor.
    let answer = withNoActor(Unchecked(value: value)) { value in
      guard cell.memory.put(value.value, as: supertype) else { return false }
      cell.gate.settle(as: CreationGate.ready)
      // A cast may also box a struct in an object or convert an array's elements, which doesn't count.
      return dynamicType(of: cell.memory.any(supertype)) == dynamicType(of: value.value)
    }
    known.withLock { $0[pair] = answer }
    return answer
  }

  /// Returns the dynamic type of a value or, for an Optional, of the value that it wraps.
  private static func dynamicType(of value: Any) -> any Any.Type {
    (value as? any OptionalValue)?.content.map { dynamicType(of: $0) } ?? type(of: value)
  }

  /// Runs `body` on a thread outside of any actor, if there are other threads, and waits for its result.
  private static func withNoActor<Input: Sendable>(_ input: Input, _ body: @escaping @Sendable (Input) -> Bool) -> Bool
  {
    #if canImport(Dispatch)
      let answer = Lock(false)
      let isDone = DispatchSemaphore(value: 0)
      DispatchQueue(label: "spellbook.supertypes").async {
        answer.withLock { $0 = body(input) }
        isDone.signal()
      }
      isDone.wait()
      return answer.withLock { $0 }
    #else
      return body(input)
    #endif
  }
}
