/// A value for what demands a `Sendable` one.
///
/// `@unchecked Sendable`: it is made and taken apart by one call, on one thread, or its maker says why it may leave it.
struct Unchecked<Value>: @unchecked Sendable { let value: Value }

/// Calls `body` on the main actor, which the calling thread has, with what needn't be `Sendable`.
///
/// - Precondition: The caller is on the main actor.
func callOnMainActor<Input, Result>(_ input: Input, _ body: @MainActor (Input) throws -> Result) rethrows -> Result {
  let input = Unchecked(value: input)
  return try MainActor.assumeIsolated { Unchecked(value: try body(input.value)) }.value
}

/// Throws an error that gives the advice, unless the caller is on the main actor.
func requireMainActor(orElse advice: @autoclosure () -> String) throws {
  if !isOnMainActor() { throw InjectionError(.wrongIsolation, through: [], advice: advice()) }
}
