/// A value that is passed to code that requires a `Sendable` one.
///
/// `@unchecked Sendable`: one call makes it and takes the value out again, on one thread. In any other case, a comment where it
/// is made says why the value may leave the thread.
struct Unchecked<Value>: @unchecked Sendable { let value: Value }

/// Calls `body` on the main actor, which the calling thread has, with what needn't be `Sendable`.
///
/// - Precondition: The caller is on the main actor.
package func callOnMainActor<Input, Result>(_ input: Input, _ body: @MainActor (Input) throws -> Result) rethrows
  -> Result
{
  let input = Unchecked(value: input)
  return try MainActor.assumeIsolated { Unchecked(value: try body(input.value)) }.value
}

/// Throws an error that gives the advice, unless the caller is on the main actor.
func requireMainActor(orElse advice: @autoclosure () -> String) throws {
  if !isOnMainActor() { throw InjectionError(.wrongIsolation, through: [], advice: advice()) }
}

/// A weak reference to an object that others hold.
///
/// `@unchecked Sendable`: it never changes, and the object is handed to other threads only by what is limited to `Sendable`
/// values: shared scopes, registries, and wrappers of such values.
package struct WeakReference: @unchecked Sendable {
  package private(set) weak var object: AnyObject?

  package init(_ object: AnyObject) { self.object = object }

  /// Creates a reference to a value of a type that only classes have, or to what an Optional of one wraps.
  ///
  /// - Precondition: `value` is an object, or an Optional with one.
  package init(_ value: Any, declaredBy declaration: @autoclosure () -> String) {
    let content = (value as? any OptionalValue).map(\.content) ?? value
    guard let content, type(of: content) is any AnyObject.Type else {
      trap(
        """
        \(declaration()) got a \(TypeName.of(type(of: value))), which isn't an object, and only an object can be held \
        weakly. Keep it in another way.
        """)
    }
    object = content as AnyObject
  }
}
