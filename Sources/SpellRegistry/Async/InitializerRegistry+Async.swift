extension InitializerRegistry {
  /// Registers what makes a value asynchronously.
  ///
  /// ```swift
  /// registry.registerAsync(Database.self, scope: .singleton) { _ in try await Database.open() }
  /// let database = try await registry.resolveAsync(Database.self)
  /// ```
  ///
  /// A synchronous read is an error of code `.notReady` until ``resolveAsync(_:named:)`` has returned, and gets the
  /// value after that, for as long as the scope keeps it: with ``Scope/unique`` or ``Scope/graph`` nothing is kept.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - name: Which properties, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Makes the value.
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

  /// Gets a value, waiting for it where its initializer is async or runs on the main actor.
  ///
  /// However many await a value that its scope shares, one run makes it. Its failure reaches all who await that run;
  /// the next to ask begins another. Cancelling one who awaits ends the run for nobody.
  ///
  /// - Parameters:
  ///   - type: The type asked for.
  ///   - name: The name to ask with.
  /// - Throws: As ``resolve(_:named:for:)``; `.cycle` also where initializers of several tasks await each other.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    let point = InjectionPoint(Value.self, in: nil, name.map { .named($0) } ?? .unnamed)
    for owner in lineage {
      guard let entry = owner.winner(for: Value.self, at: point) else { continue }
      guard let exact = entry as? RegistrationEntry<Value> else { break }
      switch exact.initializer {
      case .async(let initializer):
        guard let initializer = initializer as? AsyncValue<Value> else { break }
        let value = try await answer(initializer, of: exact, owner: owner, named: name)
        exact.hooks.callAll(value, at: InjectionPoint(type, in: nil, name.map { .named($0) } ?? .unnamed))
        hooks.callAll(value, at: InjectionPoint(type, in: nil, name.map { .named($0) } ?? .unnamed))
        return value
      case .onMainActor: return try await resolveOnMainActor(type, named: name)
      default: break
      }
      break
    }
    return try resolve(type, named: name)
  }

  private func answer<Value: Sendable>(
    _ initializer: AsyncValue<Value>, of entry: RegistrationEntry<Value>, owner: InitializerRegistry,
    named name: String?
  ) async throws(InjectionError) -> Value {
    let question = AsyncQuestion(entry, named: name, of: entry.lifetime.isShared ? owner : self)
    do {
      return try await question.awaiting {
        if entry.lifetime.isShared { return try await initializer.value(keptBy: entry, for: question) }
        return try await initializer.makeUnique(for: question)
      }
    } catch {
      throw InjectionError.wrapping(
        error, thrownBy: question.point.step(Value.self, registration: entry.place))
    }
  }

  @MainActor private func resolveOnMainActor<Value: Sendable>(
    _ type: Value.Type, named name: String?
  ) async throws(InjectionError) -> Value {
    try resolve(type, named: name)
  }
}
