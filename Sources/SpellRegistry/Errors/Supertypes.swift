internal import Support
#if canImport(Dispatch)
  internal import Dispatch
#endif

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
    let cell = ValueCell(supertype)
    // A cast on an actor also finds the conformances that are isolated to the actor, so this cast runs outside of any
    // actor. The value may leave this thread, because this thread waits until the cast is done.
    let answer = withNoActor(Unchecked(value: value)) { value in
      guard cell.memory.put(value.value, as: supertype) else { return false }
      cell.gate.settle(as: CreationGate.ready)
      // A cast also succeeds if it boxes a struct in an object or converts an array's elements. Such a cast changes the
      // dynamic type, and doesn't show that the value has the supertype.
      return dynamicType(of: cell.memory.any(supertype)) == dynamicType(of: value.value)
    }
    known.withLock { $0[pair] = answer }
    return answer
  }

  /// Returns the dynamic type of a value or, for an Optional, of the value that it wraps.
  private static func dynamicType(of value: Any) -> any Any.Type {
    (value as? any OptionalValue)?.content.map { dynamicType(of: $0) } ?? type(of: value)
  }

  /// Runs `body` outside of any actor, on a Dispatch queue, and returns the result after waiting for it.
  ///
  /// On a platform without Dispatch, `body` runs on the calling thread.
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
