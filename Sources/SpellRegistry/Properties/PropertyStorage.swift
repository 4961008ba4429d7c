/// The storage of one wrapped property, which is written once and read without a lock.
///
/// A property wrapper contains one storage and no other mutable state. One call reads the value:
///
/// ```swift
/// @propertyWrapper struct Stamped {
///   private let storage = PropertyStorage<Date>(at: .init(fileID: #fileID, line: #line))
///   var wrappedValue: Date { storage.value { Date() } }
/// }
/// ```
///
/// Any number of threads may read at the same time, even before there is a value. One thread makes the value, with no
/// lock held, and the other threads wait for the value. To assign or reset the property, put new storage into the
/// wrapper's field: `storage = storage.replaced(with: value)`. Earlier copies of the wrapper keep their value.
///
/// Declaring a property takes one allocation. Each read after the first takes one atomic load.
@frozen public struct PropertyStorage<Value> {
  /// The object that contains ``memory`` and keeps it alive.
  @usableFromInline package let cell: PropertyCell
  @usableFromInline package let memory: PropertyMemory

  /// Creates storage that uses an existing cell.
  ///
  /// - Parameter cell: A cell for `Value`. If `Value` is an Optional, the cell may also be for the type that the
  ///   Optional wraps. In that case, nothing may store a value in the storage, and only ``prepared(in:from:hook:)`` may
  ///   make values.
  @inlinable package init(_ cell: PropertyCell) {
    self.cell = cell
    memory = cell.memory
  }

  /// Creates empty storage for a property.
  ///
  /// The property gets its values from the registry that is current during this call.
  ///
  /// - Parameters:
  ///   - place: The source location of the property's declaration.
  ///   - key: The declared key to resolve; nil to resolve the property's type.
  ///   - name: The name to use in the request; nil to use the property's own name.
  @inlinable
  public init(at place: SourcePlace, key: InjectionKey<Value>? = nil, named name: String? = nil) {
    self.init(
      .allocate(
        Value.self, size: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment, at: place, key: key,
        named: name))
  }

  /// Creates empty storage for the property of `other`, but for another form of the value, such as a weak reference.
  ///
  /// The new storage never requests a value from a registry. Error messages show the property as declared, with the
  /// type `Other`.
  @inlinable package init<Other>(inPlaceOf other: PropertyStorage<Other>) {
    self.init(
      other.cell.allocate(
        for: Value.self, size: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment))
  }

  /// Returns new storage for this property that contains `value`.
  ///
  /// Assign the new storage to the wrapper's field.
  @inlinable public func replaced(with value: Value) -> PropertyStorage {
    let storage = PropertyStorage(.allocate(like: cell, isAssigned: true))
    storage.memory.value.put(value)
    storage.cell.settle()
    return storage
  }

  /// Returns new storage for this property that contains no value.
  ///
  /// Assign the new storage to the wrapper's field.
  @inlinable public func replacedWithNothing() -> PropertyStorage {
    PropertyStorage(.allocate(like: cell, isAssigned: false))
  }

  /// The source location of the property's declaration.
  public var place: SourcePlace { cell.fields.place }
  /// The identity of the stored property, with which reflection finds the property's name; see ``NamedProperty``.
  public var identity: PropertyIdentity { cell.identity }

  /// The property's registry, which was current when the property was created.
  ///
  /// - Precondition: The registry still exists; see ``InitializerRegistry/run(_:)-(()->Result)``.
  public var registry: InitializerRegistry {
    if let registry = cell.fields.link.registry { return registry }
    trap(cell.adviceOnGoneRegistry, at: place)
  }

  /// Returns the injection point that initializers and hooks receive for this property.
  public func point(in container: AnyObject?) -> InjectionPoint { cell.point(in: container) }

  /// Whether the property has a value, determined without making one.
  public var hasValue: Bool { cell.hasValue }

  /// The property's value, or nil if there is none, determined without making one.
  public var value: Value? { cell.withValue { $0.value() } }

  /// Returns the stored value, or else the registered initializer's value, or else the result of `make`.
  ///
  /// However many threads read the property, the value is made and stored only once, and then the hooks are called. The
  /// program stops if the registered initializer fails, if making the value requires the value itself, or if the
  /// property's registry no longer exists.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if there is one.
  ///   - make: Makes the value if nothing is registered for the property. Runs with no lock held.
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

  /// Returns the stored value, or else the registered initializer's value, which is then stored.
  ///
  /// For an Optional without a registration, the result is nil. Nil isn't stored, not even that of an initializer.
  ///
  /// - Throws: The error that says why there is no value. Nothing is stored in this case, so the next read tries again.
  ///   There is one exception: if completion hooks seem to cause each other without end, the call throws `.cycle`
  ///   although the value is stored.
  public func resolve(in container: AnyObject?) throws(InjectionError) -> Value {
    try makeValue(in: container)
  }

  /// Returns the property's value, which is made only once, however many threads read it.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if there is one.
  ///   - followsReinjection: Whether to replace a value that a re-injection of its type has made outdated.
  ///   - callsHooks: Whether to call hooks and observers with a new value.
  ///   - expression: Makes the value from the container if nothing is registered for the container's class. It also gets
  ///     the property's cell.
  ///   - hook: Called with the container and the value after the value is stored, if there is a container.
  ///   - fallback: Called if neither a registration nor the expression makes the value. Returns whether it has put a
  ///     value in the memory.
  @inlinable package func makeValue(
    in container: AnyObject?, followsReinjection: Bool = false, callsHooks: Bool = true,
    expression: ((AnyObject?, PropertyCell) -> Value)? = nil, hook: ((AnyObject, Value) -> Void)? = nil,
    fallback: PropertyCell.Fallback = { _, _ in false }
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { made throws(InjectionError) in
      try cell.readOrMake(
        made, in: container, followsReinjection: followsReinjection, callsHooks: callsHooks,
        hasExpression: expression != nil, hasHook: hook != nil,
        expression: { memory in if let expression { memory.put(expression(container, cell)) } },
        hook: { container, memory in hook?(container, memory.value()) }, fallback: fallback)
    }
  }

  /// Returns a stored value, such as an assigned one, or else gets a value from the registry and calls the hooks.
  ///
  /// The property doesn't store the value from the registry.
  ///
  /// - Parameter registry: The registry to ask; nil to ask the property's own registry.
  @inlinable package func makeTransientValue(
    in container: AnyObject?, from registry: InitializerRegistry?, hook: ((AnyObject, Value) -> Void)?
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { made throws(InjectionError) in
      try cell.readOrMakeTransient(made, in: container, from: registry, hasHook: hook != nil) { container in
        hook?(container, made.value())
      }
    }
  }

  /// Returns a value from the registry without storing it, the epoch before it was made, and a function that calls the
  /// hooks with that value.
  ///
  /// The result is nil if the property's type is an Optional and nothing is registered for it.
  ///
  /// - Parameter registry: The registry to ask; nil to ask the property's own registry.
  package func prepared(
    in container: AnyObject?, from registry: InitializerRegistry?, hook: ((AnyObject, Value) -> Void)?
  ) throws(InjectionError) -> (value: Value, epoch: UInt, callHooks: () -> Void)? {
    let epoch = memory.epoch
    let made = ValueCell(cell.fields.type)
    guard let target = cell.target(for: container, requested: registry) else { throw cell.goneRegistry(in: container) }
    guard case .value(let match) = try cell.putTransientValue(made.memory, in: container, from: target) else {
      return nil
    }
    made.gate.settle(as: CreationGate.ready)
    let whole = made.type == Value.self ? made : made.wrapped(as: Value.self)
    let value: Value = withExtendedLifetime(whole) { $0.memory.value() }
    return (
      value, epoch,
      { cell.callHooks(made.memory, of: match, by: target.registry, in: container) { hook?($0, value) } }
    )
  }

  /// Stores a value, unless the property already has a value and `replacing` is false.
  ///
  /// - Parameter epoch: The epoch before the value was made, after which each re-injection makes the value outdated; nil
  ///   if no registry has made it.
  /// - Returns: Whether the value was stored.
  /// - Throws: `.cycle` if the calling thread is making the value, or if the thread that makes it waits for the calling
  ///   thread.
  @discardableResult
  package func store(_ value: Value, replacing: Bool, inEpoch epoch: UInt? = nil) throws(InjectionError) -> Bool {
    try cell.store(replacing: replacing, inEpoch: epoch ?? memory.epoch) { $0.put(value) }
  }

  /// Calls the hooks for a value that the property didn't request, such as a service that a `ServiceBox` injected.
  package func callHooks(_ value: Value, in container: AnyObject, hook: ((AnyObject, Value) -> Void)?) {
    let made = ValueCell(Value.self) { $0.put(value) }
    let registry = cell.target(for: container)?.registry
    cell.callHooks(made.memory, of: nil, by: registry, in: container) { hook?($0, value) }
  }

  /// Drops the value, so that the next read makes a new value.
  ///
  /// This function is for a constant such as `let clock = Injected<Clock>()`. For a property of an object or a struct,
  /// put ``replacedWithNothing()`` into the wrapper's field instead. Other threads may read the constant during the
  /// call. A thread that is already making a value still gets that value.
  public func forget() { cell.forget() }

  /// Returns a description of the property, such as `Lazy<Int>(7, declared at App/Page.swift:3)`.
  ///
  /// - Parameter wrapper: The name of the property wrapper, such as `Lazy`.
  package func description(of wrapper: String) -> String { description(of: wrapper, value) }

  /// Returns a description that shows `value`, even if another `PropertyStorage` of the same property stores the value.
  package func description(of wrapper: String, _ value: Value?) -> String {
    "\(wrapper)<\(TypeName.of(Value.self))>(\(value.map { "\($0)" } ?? "no value yet"), declared at \(place))"
  }
}

/// Returns a hook that calls a closure with the enclosing object, cast to the class `Container`, and the value.
///
/// - Precondition: The object that contains the property is a `Container`.
@usableFromInline package func propertyHook<Container: AnyObject, Value>(
  at place: SourcePlace, _ body: @escaping (Container, Value) -> Void
) -> (AnyObject, Value) -> Void {
  { container, value in body(typed(container, for: Value.self, at: place), value) }
}

/// Returns a hook that calls a main-actor method of the enclosing object with the value.
///
/// - Precondition: The object that contains the property is a `Container`, and the property is read on the main actor.
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

/// Returns an expression that gets the enclosing object, cast to the class `Container`.
///
/// The expression captures nothing but `body`. If it captured more, each first read would retain a context.
///
/// - Precondition: The object that contains the property is a `Container`.
@inlinable package func propertyExpression<Container: AnyObject, Value>(
  _ body: @escaping (Container) -> Value
) -> (AnyObject?, PropertyCell) -> Value {
  { container, cell in body(container as? Container ?? typed(container, for: Value.self, of: cell)) }
}

/// Returns an expression that gets the enclosing actor and runs on it.
///
/// - Precondition: The object that contains the property is a `Container`, on which the property is read.
@usableFromInline package func actorPropertyExpression<Container: Actor, Value>(
  _ body: @escaping (isolated Container) -> Value
) -> (AnyObject?, PropertyCell) -> Value {
  // The expression neither leaves the actor nor the thread that reads the property.
  let body = Unchecked(value: body)
  return { container, cell in
    let container: Container = typed(container, for: Value.self, of: cell)
    return container.assumeIsolated { Unchecked(value: body.value($0)) }.value
  }
}

/// Returns the container as a `Container`, or stops the program because the property's expression needs one.
@usableFromInline func typed<Container: AnyObject>(
  _ container: AnyObject?, for type: any Any.Type, of cell: PropertyCell
) -> Container { typed(container, for: type, "an expression", at: cell.fields.place) }

/// Returns the container as a `Container`, or stops the program if it isn't one.
///
/// - Parameter part: The part of the property's declaration that needs the container: "a hook" or "an expression".
private func typed<Container: AnyObject>(
  _ container: AnyObject?, for type: any Any.Type, _ part: String = "a hook", at place: SourcePlace
) -> Container {
  if let container = container as? Container { return container }
  guard let container else {
    trap(
      """
      A property of type \(TypeName.of(type)) has \(part) for \(TypeName.of(Container.self)), but it is in a struct or is a \
      local variable, so there is no object. Declare it in the class.
      """, at: place)
  }
  trap(
    """
    A property of type \(TypeName.of(type)) in \(TypeName.of(Swift.type(of: container))) has \(part) for \
    \(TypeName.of(Container.self)). Write \(part == "a hook" ? "the hook" : "the expression") for the class that declares the property.
    """, at: place)
}
