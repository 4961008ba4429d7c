/// The storage of one wrapped property: a cell that is written once and read with no lock.
///
/// A wrapper holds one of these and nothing else that changes. One call reads it:
///
/// ```swift
/// @propertyWrapper struct Stamped {
///   private let storage = PropertyStorage<Date>(at: .init(fileID: #fileID, line: #line))
///   var wrappedValue: Date { storage.value { Date() } }
/// }
/// ```
///
/// Any number of threads may read at once, the first read included: one of them makes the value, with no lock held, and
/// the others wait for it. To assign or to reset, put new storage into the wrapper's field:
/// `storage = storage.replaced(with: value)`. Copies made before keep their value.
///
/// Declaring a property costs one allocation; a re-read costs one atomic load.
@frozen public struct PropertyStorage<Value> {
  /// Holds ``memory``.
  @usableFromInline package let cell: PropertyCell
  @usableFromInline package let memory: PropertyMemory

  /// - Parameter cell: That of a property of this type or, for ``prepared(in:from:hook:)`` only, of what this type wraps.
  @inlinable package init(_ cell: PropertyCell) {
    self.cell = cell
    memory = cell.memory
  }

  /// Creates storage without a value, of a property that asks the registry that is current now.
  ///
  /// - Parameters:
  ///   - place: Where the property is declared.
  ///   - key: The declared key to ask for instead of the type.
  ///   - alias: The name to ask with instead of the property's own.
  @inlinable public init(at place: SourcePlace, key: InjectionKey<Value>? = nil, alias: String? = nil) {
    self.init(
      .make(
        Value.self, size: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment, at: place, key: key,
        alias: alias))
  }

  /// Returns storage for the same property with another value, to be put in place of this.
  @inlinable public func replaced(with value: Value) -> PropertyStorage {
    let storage = replacedWithNothing()
    storage.memory.value.put(value)
    storage.cell.settleAsAssigned()
    return storage
  }

  /// Returns storage for the same property without a value, to be put in place of this.
  @inlinable public func replacedWithNothing() -> PropertyStorage {
    PropertyStorage(.make(like: cell))
  }

  /// The place of the property's declaration.
  public var place: SourcePlace { cell.fields.place }
  /// The identity of the property that this stores.
  public var identity: PropertyIdentity { cell.identity }

  /// The registry that the property asks, which was current when the property's object was made.
  ///
  /// - Precondition: The registry is still there; see ``InitializerRegistry/run(_:)-(()->Result)``.
  public var registry: InitializerRegistry {
    if let registry = cell.fields.home.registry { return registry }
    trap(cell.adviceOnGoneRegistry, at: place)
  }

  /// Returns the property as a request to the registry.
  public func point(in container: AnyObject?) -> InjectionPoint { cell.point(in: container) }

  /// Whether there is a value.
  public var hasValue: Bool {
    let newest = cell.newest
    return withExtendedLifetime(newest) { newest.memory.isReady }
  }

  /// The value, if there is one.
  public var value: Value? {
    let newest = cell.newest
    return newest.memory.isReady ? withExtendedLifetime(newest) { newest.memory.read() as Value } : nil
  }

  /// Returns the stored value; without one, the registry's; without that, what `make` returns.
  ///
  /// The value is made once, however many threads read, and kept; then the hooks are called. Stops the program if the
  /// registry has an initializer for the property that fails, or if the property needs its own value.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if one does.
  ///   - make: Makes the value if nothing is registered for the property; it runs with no lock held.
  @inlinable public func value(in container: AnyObject? = nil, _ make: () -> Value) -> Value {
    if memory.isReady { return withExtendedLifetime(self) { memory.read() } }
    return valueOrStop(in: container) { memory, _ in
      memory.put(make())
      return true
    }
  }

  @usableFromInline func valueOrStop(
    in container: AnyObject?, fallback: PropertyCell.Fallback
  ) -> Value {
    do throws(InjectionError) { return try makeValue(in: container, fallback: fallback) } catch {
      error.stop(at: place)
    }
  }

  /// Returns the value, as a read does, with no fallback.
  ///
  /// - Throws: Why there is no value; nothing is stored then, and the next read tries again.
  public func resolve(in container: AnyObject?) throws(InjectionError) -> Value {
    try makeValue(in: container)
  }

  /// Returns the value, made now if there is none, once, however many threads ask.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if one does.
  ///   - followsReinjection: Whether a value whose type was re-injected since is made again.
  ///   - isHeard: Whether hooks and observers are called with the value.
  ///   - expression: Makes the value if nothing is registered for the container's class.
  ///   - hook: Called with the container after the value is stored.
  ///   - fallback: Makes a value if nothing is registered; returns nil if it can't.
  @inlinable package func makeValue(
    in container: AnyObject?, followsReinjection: Bool = false, isHeard: Bool = true, expression: (() -> Value)? = nil,
    hook: ((AnyObject, Value) -> Void)? = nil, fallback: PropertyCell.Fallback = { _, _ in false }
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { made throws(InjectionError) in
      try cell.supply(
        made, in: container, followsReinjection: followsReinjection, isHeard: isHeard,
        hasExpression: expression != nil, hasHook: hook != nil,
        expression: { memory in if let expression { memory.put(expression()) } },
        hook: { container, memory in hook?(container, memory.value()) }, fallback: fallback)
    }
  }

  /// The nil of an Optional type.
  private func none() -> Value {
    guard let none = (Value.self as? any OptionalValue.Type)?.none as? Value else {
      trap("Nothing made the value of this property. \(reportThis)", at: place)
    }
    return none
  }

  /// Makes a value for this one read, stores nothing, and calls the hooks.
  ///
  /// - Parameter registry: The registry to ask instead of the property's own.
  package func makeTransientValue(
    in container: AnyObject?, from registry: InitializerRegistry? = nil, hook: ((AnyObject, Value) -> Void)? = nil
  ) throws(InjectionError) -> Value {
    var value: Value?
    try CurrentThread.current.resolving { () throws(InjectionError) in
      guard let made = try prepared(in: container, from: registry, hook: hook) else { return }
      value = made.value
      made.announce()
    }
    return value ?? none()
  }

  /// Makes a value that isn't stored yet, and what calls its hooks; nil for an Optional that nothing makes.
  package func prepared(
    in container: AnyObject?, from registry: InitializerRegistry?, hook: ((AnyObject, Value) -> Void)?
  ) throws(InjectionError) -> (value: Value, announce: () -> Void)? {
    let made = ValueCell(cell.fields.type)
    let record: RegistrationRecord?
    switch try cell.supplyTransient(made.memory, in: container, from: registry) {
    case .nothing: return nil
    case .value: record = nil
    case .heardValue(let heard): record = heard
    }
    made.gate.settle(as: CreationGate.ready)
    let whole = made.type == Value.self ? made : made.wrapped(as: Value.self)
    let value: Value = withExtendedLifetime(whole) { $0.memory.value() }
    return (
      value,
      { cell.announce(made.memory, of: record, by: cell.fields.home.registry, in: container) { hook?($0, value) } }
    )
  }

  /// Stores a value if there is none, or in place of another; returns whether it did.
  ///
  /// - Throws: `.cycle` if this thread is making the property's value.
  @discardableResult
  package func store(_ value: Value, replacing: Bool) throws(InjectionError) -> Bool {
    try cell.store(replacing: replacing) { $0.put(value) }
  }

  /// Calls the hooks for a value that is injected from elsewhere.
  package func announce(_ value: Value, in container: AnyObject, hook: ((AnyObject, Value) -> Void)?) {
    let made = ValueCell(Value.self)
    made.memory.put(value)
    made.gate.settle(as: CreationGate.ready)
    cell.announce(made.memory, of: nil, by: cell.fields.home.registry, in: container) { hook?($0, value) }
  }

  /// Forgets the value while other threads may be reading it; the next read makes another.
  ///
  /// The thread that is making a value gets it nevertheless. For a property of an object or a struct, put
  /// ``replacedWithNothing()`` into the wrapper's field instead.
  public func forget() { cell.forget() }

  /// The property as a person reads it: `Lazy<Int>(7, declared at App/Page.swift:3)`.
  ///
  /// - Parameter wrapper: The wrapper's name.
  public func description(of wrapper: String) -> String {
    "\(wrapper)<\(TypeName.of(Value.self))>(\(value.map { "\($0)" } ?? "no value yet"), declared at \(place))"
  }
}

/// Makes a property's hook of a closure that takes an object of one class.
///
/// - Precondition: The property is in that class, or in a subclass of it.
@usableFromInline package func propertyHook<Container: AnyObject, Value>(
  at place: SourcePlace, _ body: @escaping (Container, Value) -> Void
) -> (AnyObject, Value) -> Void {
  { container, value in body(typed(container, for: Value.self, at: place), value) }
}

/// Makes a property's hook of a method of a main-actor class.
///
/// - Precondition: The property is in that class, or in a subclass of it, and is read on the main actor.
@usableFromInline package func mainActorPropertyHook<Container: AnyObject & Sendable, Value>(
  at place: SourcePlace, _ method: @escaping @MainActor (Container) -> @MainActor (Value) -> Void
) -> (AnyObject, Value) -> Void {
  { container, value in
    let container: Container = typed(container, for: Value.self, at: place)
    guard isOnMainActor() else {
      trap(
        """
        A property of type \(TypeName.of(Value.self)) in \(TypeName.of(type(of: container))) has a hook of the main \
        actor, and was read elsewhere. Read the property on the main actor.
        """, at: place)
    }
    callOnMainActor(value) { method(container)($0) }
  }
}

private func typed<Container: AnyObject>(
  _ container: AnyObject, for type: any Any.Type, at place: SourcePlace
) -> Container {
  if let container = container as? Container { return container }
  trap(
    """
    A property of type \(TypeName.of(type)) in \(TypeName.of(Swift.type(of: container))) has a hook for \
    \(TypeName.of(Container.self)). Write the hook for the class that declares the property.
    """, at: place)
}
