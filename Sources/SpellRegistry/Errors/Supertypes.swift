internal import Support
#if canImport(Dispatch)
  internal import Dispatch
#endif

/// A cache of the supertypes of instances.
enum Supertypes {
  private struct Pair: Hashable, Sendable {
    let type: ObjectIdentifier
    let supertype: ObjectIdentifier
  }
  private static let known = Lock<[Pair: Bool]>([:])

  /// Whether a value has a type as a superclass, or as a protocol that it conforms to wherever it is used.
  static func has(_ value: Any, _ supertype: any Any.Type) -> Bool {
    let pair = Pair(type: ObjectIdentifier(type(of: value)), supertype: ObjectIdentifier(supertype))
    if let known = known.withLock({ $0[pair] }) { return known }
    let cell = ValueCell(supertype)
    // A conformance that is isolated to an actor is there on that actor only, so the question is asked on no actor.
    let answer = withNoActor(Unchecked(value: value)) { value in
      guard cell.memory.put(value.value, as: supertype) else { return false }
      cell.gate.settle(as: CreationGate.ready)
      // A cast may also convert: a struct to an object that holds it, an array to one of another element.
      return dynamicType(of: cell.memory.any(supertype)) == dynamicType(of: value.value)
    }
    known.withLock { $0[pair] = answer }
    return answer
  }

  /// The type of a value, whatever it is declared as; of an Optional, that of its content.
  private static func dynamicType(of value: Any) -> any Any.Type {
    (value as? any OptionalValue)?.content.map { dynamicType(of: $0) } ?? type(of: value)
  }

  /// Runs `body` on a thread that no actor has, and waits for it.
  private static func withNoActor<Input: Sendable>(_ input: Input, _ body: @escaping @Sendable (Input) -> Bool) -> Bool
  {
    #if canImport(Dispatch)
      let (box, isDone) = (AnswerBox(), DispatchSemaphore(value: 0))
      DispatchQueue(label: "spellbook.supertypes").async {
        box.answer.withLock { $0 = body(input) }
        isDone.signal()
      }
      isDone.wait()
      return box.answer.withLock { $0 }
    #else
      return body(input)
    #endif
  }

  private final class AnswerBox: Sendable { let answer = Lock(false) }
}
