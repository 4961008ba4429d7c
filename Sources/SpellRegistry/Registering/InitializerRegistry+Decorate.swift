extension InitializerRegistry {
  /// Wraps what is registered for a type: each value that a request would get is passed to a closure, whose result the
  /// request gets instead.
  ///
  /// ```swift
  /// registry.register((any Store).self, scope: .singleton) { FileStore() }
  /// registry.decorate((any Store).self) { inner in LoggedStore(inner) }
  /// ```
  ///
  /// A decoration is a registration like any other. It hides the registration that it wraps, and has its scope: a
  /// singleton is made once and wrapped once. The scope is determined during the call, so register first and then decorate.
  /// A later `register` for the same requests replaces the decoration. If a factory is decorated, what it makes keeps its
  /// scope and its hooks.
  ///
  /// Several decorations wrap each other in the order of the calls, the last one outermost. A decoration of a child
  /// wraps what the parent has, and the parent's own requests don't get it. To take a decoration away, withdraw it with
  /// ``Registration/unregister()``, in any order. What it hid then serves again, with the value that it keeps.
  ///
  /// The parameters have the same meaning in all forms of this method.
  ///
  /// - Parameters:
  ///   - type: The type of the values. Other overloads take a declared key, whose own initializer is wrapped if nothing
  ///     is registered for the key.
  ///   - name: The names of the properties that get the wrapped value; nil for all names. With a name, only requests
  ///     with that name get it.
  ///   - fileID: The file of the decoration, for messages.
  ///   - line: The line of the decoration, for messages.
  ///   - wrap: Returns the value to use in place of its argument. It runs once for each new value of the scope,
  ///     on the requesting thread, with no lock held.
  /// - Returns: The registration of the decoration. A request throws `.notRegistered` if there is nothing to wrap.
  @discardableResult
  public func decorate<Value>(
    _ type: Value.Type, named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ wrap: @escaping @Sendable (Value) throws -> Value
  ) -> Registration<Value> {
    decorate(nil, named: name, at: SourcePlace(fileID: fileID, line: line)) { inner, _ in try wrap(inner) }
  }

  /// Wraps what is registered for a type, with a closure that uses other services.
  ///
  /// ```swift
  /// registry.decorate((any Store).self) { inner, resolver in
  ///   LoggedStore(inner, log: try resolver.resolve())
  /// }
  /// ```
  @discardableResult
  public func decorate<Value>(
    _ type: Value.Type, named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ wrap: @escaping @Sendable (Value, Resolver) throws -> Value
  ) -> Registration<Value> {
    decorate(nil, named: name, at: SourcePlace(fileID: fileID, line: line), wrap)
  }

  /// Wraps the value of a declared key: what is registered for the key, or else what its own initializer makes.
  ///
  /// ```swift
  /// registry.decorate(.store) { inner in LoggedStore(inner) }
  /// ```
  @discardableResult
  public func decorate<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ wrap: @escaping @Sendable (Value) throws -> Value
  ) -> Registration<Value> {
    decorate(key, named: name, at: SourcePlace(fileID: fileID, line: line)) { inner, _ in try wrap(inner) }
  }

  /// Wraps the value of a declared key, with a closure that uses other services.
  @discardableResult
  public func decorate<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ wrap: @escaping @Sendable (Value, Resolver) throws -> Value
  ) -> Registration<Value> {
    decorate(key, named: name, at: SourcePlace(fileID: fileID, line: line), wrap)
  }

  private func decorate<Value>(
    _ key: InjectionKey<Value>?, named name: PropertyName?, at place: SourcePlace,
    _ wrap: @escaping @Sendable (Value, Resolver) throws -> Value
  ) -> Registration<Value> {
    hide(with: .wrapping(wrap), for: key, named: name, scope: scope(of: key, named: name), at: place)
  }

  /// Returns the scope of the registration that a request gets now; `.unique` if there is none.
  ///
  /// The scope of an instance is `.singleton`, because the instance is the same for all requests. The scope of a factory
  /// is `.unique`, because only what it makes is kept. If the registration is for another type, such as the type of an
  /// instance that serves its supertypes, the scope is `.unique`: values of the requested type needn't be `Sendable`, and
  /// only one thread may get each of them.
  private func scope<Value>(of key: InjectionKey<Value>?, named name: PropertyName?) -> Scope<Value> {
    let service = Service(Value.self, key: key)
    guard let record = provider(of: service, named: name?.text)?.record, record.service == service, !record.isFactory
    else { return .unique }
    if record.isInstance { return Scope(lifetime: .singleton) }
    return Scope(lifetime: record.lifetime, expiry: record.expiry)
  }
}
