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
  @inlinable public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, for container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    // What the one registration of a type keeps for everybody is the answer, whatever the name and the container.
    var value: Value?
    let answer = findPublished(Value.self) { value = $0.assumingMemoryBound(to: Value.self).pointee }
    if let value { return value }
    if let answer { return try resolve(type, named: name, for: container, from: answer) }
    return try resolveAnew(type, named: name, for: container)
  }

  /// Hands the address of the value that the one registration of a type keeps, if it is there and nobody wants to hear
  /// that it was asked for; else returns that registration, if there is just one.
  @usableFromInline func findPublished(_ type: any Any.Type, _ read: (UnsafeRawPointer) -> Void) -> Answer? {
    let thread = CreationThread.current
    let isHeard = hooks.areUsed
    let answer = onlyAnswer(to: type, on: thread) { record in
      if isHeard || record.hooks.areUsed { return false }
      guard let value = record.shared.published.current else { return false }
      read(value)
      return true
    }
    switch answer {
    case .taken: thread.pointee.innermost?.pointee.entry?.observeDependency(on: type)
    case .one(let answer): return answer
    case .unknown: break
    }
    return nil
  }

  /// Asks a registration that was found for the value.
  @usableFromInline func resolve<Value>(
    _ type: Value.Type, named name: String?, for container: AnyObject?, from answer: Answer
  ) throws(InjectionError) -> Value {
    try CreationFrame.push(Value.self, asked: .directly(named: name, for: container)) { frame throws(InjectionError) in
      try deliver(answer, as: frame) { InjectionPoint(Value.self, in: container, name.map { .named($0) } ?? .unnamed) }
    }
  }

  /// Finds the registration and asks it for the value.
  ///
  /// Code that does not know `Value` when it is compiled begins here: an Optional would cost it a look at the type.
  @usableFromInline func resolveAnew<Value>(
    _ type: Value.Type, named name: String? = nil, for container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    func point() -> InjectionPoint { InjectionPoint(Value.self, in: container, name.map { .named($0) } ?? .unnamed) }
    let asked = CreationFrame.Asked.directly(named: name, for: container)
    return try CreationFrame.push(Value.self, asked: asked) { frame throws(InjectionError) in
      guard let answer = answer(to: Value.self, at: point, as: frame) else { return try nilOrThrow(at: point()) }
      return try deliver(answer, as: frame, at: point)
    }
  }

  /// Gets the value of a registration and calls its hooks, then the registry's.
  private func deliver<Value>(
    _ answer: Answer, as frame: UnsafeMutablePointer<CreationFrame>, at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    let value: Value = try value(of: answer, at: point, as: frame)
    answer.entry.hooks.callAll(value, at: point())
    hooks.callAll(value, at: point())
    // Its frame has gone on naming the registration, which a hook may have withdrawn.
    withExtendedLifetime(answer) {}
    return value
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
      type: ObjectIdentifier(Value.self), container: nil, name: nil, servesSupertypes: false,
      arguments: ObjectIdentifier(Arguments.self))
    let point = InjectionPoint(Value.self, in: nil, .unnamed)
    return try CreationFrame.push(Value.self, asked: point.asked) { frame throws(InjectionError) in
      for registry in lineage {
        guard let entry = registry.table.withLock({ $0[key] }) as? RegistrationEntry<Value>,
          case .withArguments(let initializer) = entry.initializer
        else { continue }
        try frame.begin(entry, withArguments: true)
        let value: Value
        do { value = try initializer(Resolver(point: point, registry: self), arguments) } catch {
          throw InjectionError.wrapping(error, thrownBy: point.step(Value.self, registration: entry.place))
        }
        entry.hooks.callAll(value, at: point)
        hooks.callAll(value, at: point)
        // Its frame has gone on naming the registration, which a hook may have withdrawn.
        withExtendedLifetime(entry) {}
        return value
      }
      throw missing(
        Value.self, at: point,
        notes: [
          "Register it: registry.register(\(TypeName.of(Value.self)).self, arguments: \(TypeName.of(Arguments.self)).self) { resolver, arguments in … }"
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
    let point = InjectionPoint(Value.self, in: nil, .unnamed)
    // A frame for all of them, so that they share the values of this resolution.
    return try CreationFrame.push([Value].self, asked: point.asked) { _ throws(InjectionError) in
      var values: [Value] = []
      for answer in answers(to: Value.self) {
        let value = try CreationFrame.push(Value.self, asked: point.asked) { frame throws(InjectionError) -> Value in
          try deliver(answer, as: frame) { point }
        }
        values.append(value)
      }
      return values
    }
  }

  /// What every registration for any container answers, in the order of registration.
  private func answers(to type: any Any.Type) -> [Answer] {
    var overridden: Set<RegistrationKey> = []
    var found: [Answer] = []
    for registry in lineage {
      let entries = registry.table.withLock { $0.entries(for: type) + $0.universal }
      for entry in entries where entry.key.container == nil && !overridden.contains(entry.key) && entry.serves(type) {
        found.append(Answer(entry: entry, fit: entry.fit(to: type), owner: registry))
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
}
