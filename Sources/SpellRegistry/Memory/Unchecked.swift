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

/// Throws an error that gives the advice, or the usual one, unless the caller is on the main actor.
func requireMainActor(orElse advice: @autoclosure () -> String? = nil) throws {
  if !isOnMainActor() { throw InjectionError(.wrongIsolation, through: [], advice: advice()) }
}
