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
    add(.async(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an async closure that creates the values of a declared key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The properties that get the value, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it; nil for the key's own scope.
  ///   - initializer: Creates the value.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func registerAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> Registration<Value> {
    add(.async(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an async closure in place of the registration with the same key, which comes back when this one is
  /// withdrawn.
  package func substituteAsync<Value: Sendable>(
    _ type: Value.Type, scope: Scope<Value>, at place: SourcePlace,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> Registration<Value> {
    add(.async(initializer), scope: scope, at: place, standsIn: true)
  }

  /// Returns a value, and awaits it if its initializer is async or runs on the main actor.
  ///
  /// However many await a value that its scope shares, one run makes it. Its failure reaches all who await that run;
  /// the next to ask begins another. Cancelling one task that awaits the run ends it for no other.
  ///
  /// If something that the value needs can be made on the main actor only, the value is made there, with what it needs:
  /// its initializer may then have run before, up to the point where it asked for that.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - name: The name to ask with.
  /// - Throws: As ``resolve(_:named:in:)``; `.cycle` also if initializers of several tasks await each other.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Service(Value.self), named: name)
  }

  /// Returns the value of a declared key, and awaits it if its initializer is async or runs on the main actor; see
  /// ``resolveAsync(_:named:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The name to ask with.
  /// - Throws: As ``resolve(_:named:in:)``; `.cycle` also if initializers of several tasks await each other.
  public func resolveAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Service(Value.self, key: key), named: name)
  }

  private func resolveAsync<Value: Sendable>(
    _ service: Service, named name: String?
  ) async throws(InjectionError) -> Value {
    func point() -> InjectionPoint { InjectionPoint(service, in: nil, name.map { .named($0) } ?? .unnamed) }
    let match = match(
      for: service, named: name.map { .known($0) } ?? .none, inContainer: false, on: ThreadState.current, at: point)
    guard let match, let registration = match.registration as? TypedRegistration<Value>,
      case .async(let initializer as AsyncValue<Value>) = registration.making.form
    else {
      do throws(InjectionError) { return try resolve(service, named: name, in: nil) } catch {
        guard error.code == .wrongIsolation else { throw error }
        return try await resolveOnMainActor(service, named: name)
      }
    }
    let value: Value
    do {
      value =
        registration.lifetime.isShared
        ? try await initializer.value(keptBy: registration, named: name, for: match.owner)
        : try await initializer.makeUnique(of: registration, named: name, for: self)
    } catch {
      throw InjectionError.wrapping(error, thrownBy: point().step(service, registration: registration.place))
    }
    registration.hooks.callAll(value, at: point())
    hooks.callAll(value, at: point())
    return value
  }

  @MainActor private func resolveOnMainActor<Value: Sendable>(
    _ service: Service, named name: String?
  ) async throws(InjectionError) -> Value {
    try resolve(service, named: name, in: nil)
  }
}
