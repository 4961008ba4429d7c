internal import Locking

extension InitializerRegistry {
  /// Gets a value: the most specific registration's, made or kept as its scope says.
  ///
  /// - Parameters:
  ///   - type: The type asked for. For an Optional type with nothing registered the answer is nil.
  ///   - name: The name to ask with, as a property would with its own.
  ///   - container: The object to ask for, so that registrations limited to its class count.
  /// - Throws: `.notRegistered`, `.cycle`, `.initializerFailed`, `.wrongIsolation` or `.notReady`, with the path from
  ///   this type to the one at fault.
  public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, for container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    let point = InjectionPoint(type, in: container, name.map { .named($0) } ?? .unnamed)
    return try CreationFrame.push(type, asked: point.asked) { frame throws(InjectionError) in
      guard let provided = try provide(type, at: point, as: frame) else { return try nilOrThrow(at: point) }
      notify(provided, at: point)
      return provided.value
    }
  }

  /// Makes a value from run-time arguments.
  ///
  /// - Parameters:
  ///   - type: The type asked for.
  ///   - arguments: What the initializer gets. Their static type is part of the key.
  /// - Throws: `.notRegistered` where no initializer of `type` takes arguments of this type, else as
  ///   ``resolve(_:named:for:)``.
  public func resolve<Value, Arguments>(
    _ type: Value.Type = Value.self, arguments: Arguments
  ) throws(InjectionError) -> Value {
    let key = RegistrationKey(
      type: ObjectIdentifier(type), container: nil, name: nil, servesSupertypes: false,
      arguments: ObjectIdentifier(Arguments.self))
    let point = InjectionPoint(type, in: nil, .unnamed)
    return try CreationFrame.push(type, asked: point.asked) { frame throws(InjectionError) in
      for registry in lineage {
        guard let entry = registry.table.withLock({ $0[key] }) as? RegistrationEntry<Value>,
          case .withArguments(let initializer) = entry.initializer
        else { continue }
        try frame.begin(entry, withArguments: true)
        let value = try run(entry, at: point) {
          try initializer(Resolver(point: point, registry: self), arguments)
        }
        notify(Provided(value: value, entry: entry), at: point)
        return value
      }
      throw missing(
        type, at: point,
        notes: [
          "Register it: registry.register(\(TypeName.of(type)).self, arguments: \(TypeName.of(Arguments.self)).self) { resolver, arguments in … }"
        ])
    }
  }

  /// Gets one value from each registration of a type, in the order of registration.
  ///
  /// Registrations limited to a container type are left out; those of parents that a registration with the same key
  /// overrides, too. With none the answer is empty.
  ///
  /// - Throws: What the first initializer to fail threw, as ``resolve(_:named:for:)``.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    let point = InjectionPoint(type, in: nil, .unnamed)
    // A frame for all of them, so that they share the values of this resolution.
    return try CreationFrame.push([Value].self, asked: point.asked) { _ throws(InjectionError) in
      var values: [Value] = []
      for (entry, owner) in entries(serving: type) {
        let provided = try CreationFrame.push(type, asked: point.asked) { frame throws(InjectionError) in
          try provide(type, from: entry, of: owner, at: point, as: frame)
        }
        guard let provided else { continue }
        notify(provided, at: point)
        values.append(provided.value)
      }
      return values
    }
  }

  private func entries(
    serving type: any Any.Type
  ) -> [(entry: any AnyRegistrationEntry, owner: InitializerRegistry)] {
    var overridden: Set<RegistrationKey> = []
    var found: [(entry: any AnyRegistrationEntry, owner: InitializerRegistry)] = []
    for registry in lineage {
      let entries = registry.table.withLock { $0.entries(for: type) + $0.universal }
      for entry in entries where entry.key.container == nil && !overridden.contains(entry.key) {
        found.append((entry, registry))
      }
      overridden.formUnion(entries.map(\.key))
    }
    return found.sorted { $0.entry.age < $1.entry.age }
  }

  /// Nil for an Optional type, else the error that says that nothing is registered.
  func nilOrThrow<Value>(at point: InjectionPoint) throws(InjectionError) -> Value {
    if let optional = Value.self as? any OptionalValue.Type, let none = optional.none as? Value {
      return none
    }
    throw missing(Value.self, at: point)
  }

  /// Calls the hooks of the registration, then the registry's.
  private func notify<Value>(_ provided: Provided<Value>, at point: InjectionPoint) {
    provided.entry?.notify(provided.value, at: point)
    hooks.callAll(provided.value, at: point)
  }
}

extension Hooks where Value == Any {
  /// Calls every hook, making an `Any` of the value only where there is one.
  func callAll<Injected>(_ value: Injected, at point: InjectionPoint) {
    if areUsed { call(value, at: point) }
  }
}
