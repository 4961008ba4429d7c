extension InitializerRegistry {
  /// Returns a value, awaiting it if its initializer is async or runs on the main actor.
  ///
  /// If the initializer is async and the scope keeps the value, a single run of the initializer makes it, however many
  /// tasks await it. If the run fails, all these tasks get the error, and the next request starts another run. If one
  /// of these tasks is canceled, its call immediately throws an error of code `.cancelled`. The run continues for the
  /// other tasks, and is canceled if there are none. With the scope `.unique`, an async initializer runs in the calling
  /// task, and has to check for cancellation itself.
  ///
  /// What an autowired initializer needs, and what a decoration wraps, is awaited first.
  ///
  /// If a value with a synchronous initializer needs a value that only the main actor can make, both values are made on
  /// the main actor. The synchronous initializer may run twice: first until it requests the main-actor value, and then
  /// from its beginning on the main actor.
  ///
  /// This method begins a new resolution. Inside an initializer, use
  /// ``Resolver/resolveAsync(_:named:)-(Value.Type,_)`` instead.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - name: The name to use in the request, like the name of a property that requests a value.
  /// - Throws: The errors of ``resolve(_:named:in:)-(Value.Type,_,_)``, `.cancelled`, and `.cycle` if tasks await each
  ///   other.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Value.self, nil, named: name, for: nil).value()
  }

  /// Returns the value of a declared key, awaiting it if its initializer is async or runs on the main actor.
  public func resolveAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Value.self, key, named: name, for: nil).value()
  }

  /// Returns a cell with the value of a request, awaiting the value if necessary.
  ///
  /// - Parameter run: The async run whose resolver makes the request; nil for any other request.
  func resolveAsync(
    _ type: any Any.Type, _ key: InjectionKeys?, named name: String?, for run: AsyncRun?
  ) async throws(InjectionError) -> ValueCell {
    let asker = run ?? AsyncRun.ofThisTask
    let outer = run?.resolution
    let resolution = outer ?? Resolution()
    let request = AsyncRequest(Service(type, key: key), named: name, to: self, by: asker, in: resolution)
    let cell: ValueCell
    do { cell = try await request.cell() } catch {
      let error = InjectionError.wrapping(error)
      if outer != nil { throw error }
      // Even after an error, the completion hooks of the values that were already made have to run, as in a synchronous
      // resolution.
      try? resolution.leave(as: asker)
      throw error.inOneLap()
    }
    if outer == nil { try resolution.leave(as: asker) }
    return cell
  }
}

extension Resolver {
  /// Returns a dependency, awaiting it if its initializer is async or runs on the main actor.
  ///
  /// The request belongs to the resolution of the async initializer that received this resolver, so a cycle throws an
  /// error. In all other respects, this method works like the registry's `resolveAsync`.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await registry.resolveAsync(Value.self, nil, named: name, for: run).value()
  }

  /// Returns the value of a declared key, awaiting it if its initializer is async or runs on the main actor.
  public func resolveAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await registry.resolveAsync(Value.self, key, named: name, for: run).value()
  }
}
