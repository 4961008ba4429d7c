extension InitializerRegistry {
  /// Registers an async closure that creates values of a type.
  ///
  /// ```swift
  /// registry.registerAsync(Database.self, scope: .singleton) { _ in try await Database.open() }
  /// let database = try await registry.resolveAsync(Database.self)
  /// ```
  ///
  /// A synchronous read throws an error of code `.notReady` until ``resolveAsync(_:named:)`` has returned, and gets the
  /// value after that, for as long as the scope keeps it: with ``Scope/unique`` or ``Scope/graph`` nothing is kept.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - name: The properties that get it, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Creates the value.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func registerAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> Registration<Value> {
    add(nil, name, scope, SourcePlace(fileID: fileID, line: line), .async(AsyncValue(initializer)))
  }

  /// Returns a value, and awaits it if its initializer is async or runs on the main actor.
  ///
  /// However many await a value that its scope shares, one run makes it. Its failure reaches all who await that run;
  /// the next to ask begins another. Cancelling one task that awaits the run ends it for no other.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - name: The name to ask with.
  /// - Throws: As ``resolve(_:named:in:)``; `.cycle` also if initializers of several tasks await each other.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    func point() -> InjectionPoint { InjectionPoint(Value.self, in: nil, name.map { .named($0) } ?? .unnamed) }
    let match = match(
      for: Value.self, named: name.map { .known($0) } ?? .none, inContainer: false, on: ThreadState.current, at: point)
    guard let match, let registration = match.registration as? TypedRegistration<Value> else {
      return try resolve(type, named: name)
    }
    switch registration.initializer {
    case .async(let initializer as AsyncValue<Value>):
      let value: Value
      do {
        value =
          registration.lifetime.isShared
          ? try await initializer.value(keptBy: registration, named: name, for: match.owner)
          : try await initializer.makeUnique(of: registration, named: name, for: self)
      } catch {
        throw InjectionError.wrapping(error, thrownBy: point().step(Value.self, registration: registration.place))
      }
      registration.hooks.callAll(value, at: point())
      hooks.callAll(value, at: point())
      return value
    case .onMainActor: return try await resolveOnMainActor(type, named: name)
    default: return try resolve(type, named: name)
    }
  }

  @MainActor private func resolveOnMainActor<Value: Sendable>(
    _ type: Value.Type, named name: String?
  ) async throws(InjectionError) -> Value {
    try resolve(type, named: name)
  }
}
