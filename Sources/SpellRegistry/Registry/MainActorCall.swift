/// A call of a main-actor initializer from a function that is synchronous, and checks where it is.
///
/// `@unchecked Sendable`: it is made and run on one thread, which has the main actor or it throws.
struct MainActorCall<Value>: @unchecked Sendable {
  let initializer: @MainActor (Resolver) throws -> Value
  let resolver: Resolver

  /// `@unchecked Sendable`: the main actor stands for the lock, as above; the value leaves it on the thread that has it.
  private struct Made: @unchecked Sendable { let value: Value }

  init(_ initializer: @escaping @MainActor (Resolver) throws -> Value, _ resolver: Resolver) {
    self.initializer = initializer
    self.resolver = resolver
  }

  func run() throws -> Value {
    guard isOnMainActor() else {
      throw InjectionError(
        .wrongIsolation, through: [],
        advice: """
          Ask for it on the main actor, or await it: try await registry.resolveAsync(\(TypeName.source(of: Value.self))).
          """)
    }
    return try MainActor.assumeIsolated { Made(value: try initializer(resolver)) }.value
  }
}
