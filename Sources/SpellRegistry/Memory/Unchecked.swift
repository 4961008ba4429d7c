/// A wrapper that passes any value to code that requires a `Sendable` value.
///
/// `@unchecked Sendable`: normally, a single call on one thread wraps and unwraps the value. If the value leaves the
/// thread, a comment at that use of the wrapper says why it may.
struct Unchecked<Value>: @unchecked Sendable { let value: Value }

/// Calls `body` synchronously on the main actor, with an input and a result that needn't be `Sendable`.
///
/// - Precondition: The caller runs on the main actor.
package func callOnMainActor<Input, Result>(
  _ input: Input, _ body: @MainActor (Input) throws -> Result
) rethrows
  -> Result
{
  let input = Unchecked(value: input)
  return try MainActor.assumeIsolated { Unchecked(value: try body(input.value)) }.value
}

/// Throws a `.wrongIsolation` error unless the caller is on the main actor.
///
/// - Parameter advice: The advice in the error; nil for the default advice.
func requireMainActor(orElse advice: @autoclosure () -> String? = nil) throws {
  if !isOnMainActor() { throw InjectionError(.wrongIsolation, through: [], advice: advice()) }
}
