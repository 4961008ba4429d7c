// Requests with a name that is a constant, and the question whether anything is registered.

extension InitializerRegistry {
  /// Returns a value by a name that is a constant; otherwise as ``resolve(_:named:in:)``.
  public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try resolve(type, named: name.text, in: container)
  }

  /// Returns a value by a name that is a constant, and awaits it; otherwise as ``resolveAsync(_:named:)``.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(type, named: name.text)
  }

  /// Whether something is registered, here or in a parent, that makes values of a type for every container.
  ///
  /// Makes nothing. For an Optional type, whether something makes it or its wrapped type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - name: The name to ask with.
  public func isRegistered<Value>(_ type: Value.Type, named name: String? = nil) -> Bool {
    isRegistered(Service(type), named: name)
  }

  /// Whether something is registered, here or in a parent, for a declared key and every container.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The name to ask with.
  public func isRegistered<Value>(_ key: InjectionKey<Value>, named name: String? = nil) -> Bool {
    isRegistered(Service(Value.self, key: key), named: name)
  }

  private func isRegistered(_ service: Service, named name: String?) -> Bool {
    registeredMatch(
      for: service, in: nil, named: name, onlyConstrained: false, on: ThreadState.current) != nil
  }
}

extension Resolver {
  /// Returns a dependency by a name that is a constant.
  public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(type, named: name, in: container)
  }
}
