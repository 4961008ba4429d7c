internal import Support
internal import Synchronization

extension PropertyCell {
  /// A closure that is called if no registration makes the value.
  ///
  /// - Returns: Whether the closure has put a value in the memory.
  @usableFromInline package typealias Fallback = (ValueMemory, InjectionPoint) throws(InjectionError) -> Bool

  @usableFromInline static func allocate(
    _ type: any Any.Type, size: Int, alignment: Int, at place: SourcePlace, key: InjectionKeys?, named name: String?
  ) -> PropertyCell {
    allocate(size: size, alignment: alignment) {
      PropertyFields(
        type: type, propertyType: type, place: place, key: key, requestedName: name,
        link: .current, isAssigned: false)
    }
  }

  /// Returns an empty cell for another form of this property's value, such as a weak reference.
  ///
  /// No registry is asked for a value in this form. Instead, each read passes a ``Fallback`` closure that makes the
  /// value.
  @usableFromInline func allocate(
    for type: any Any.Type, size: Int, alignment: Int, isAssigned: Bool = false
  ) -> PropertyCell {
    PropertyCell.allocate(size: size, alignment: alignment) {
      PropertyFields(
        type: type, propertyType: fields.propertyType, place: fields.place, key: fields.key,
        requestedName: fields.requestedName,
        link: fields.link, isAssigned: isAssigned)
    }
  }

  /// Returns an empty cell for the same property, and for the same type of value, as the cell `other`.
  ///
  /// - Parameter isAssigned: Whether the cell's first value is an assigned one.
  @usableFromInline static func allocate(like other: PropertyCell, isAssigned: Bool) -> PropertyCell {
    func layout<Value>(_: Value.Type) -> (Int, Int) { (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment) }
    let (size, alignment) = _openExistential(other.fields.type, do: layout)
    return other.allocate(for: other.fields.type, size: size, alignment: alignment, isAssigned: isAssigned)
  }

  private var service: Service { Service(fields.propertyType, key: fields.key) }

  var identity: PropertyIdentity { PropertyIdentity(memory.head.gate.id, at: fields.place) }

  private func request(
    in container: AnyObject?, isForStorage: Bool = false, isFromKept: Bool = false
  ) -> Request {
    Request(
      fields.propertyType, fields.key, of: self, in: container, isForStorage: isForStorage, isFromKept: isFromKept)
  }

  func point(in container: AnyObject?) -> InjectionPoint {
    InjectionPoint(service, of: self, named: fields.requestedName, in: container)
  }

  /// Copies the property's value to `memory`, after making and storing the value if it is missing or outdated.
  ///
  /// For a property with an expression, the value comes from a registration for the container's class, or else from the
  /// expression. For any other property, it comes from the registration that the registry chooses, or else from the
  /// fallback. Nil from a registered initializer isn't stored. If neither source has a value, the property keeps its old value. Without an old value, an Optional
  /// property reads as nil, and for any other property the call throws. If the cell stores the value in another form,
  /// such as a weak reference, only the fallback makes values. If `callsHooks` is true, the hooks are called with a new
  /// value.
  @usableFromInline func readOrMake(
    _ memory: ValueMemory, in container: AnyObject?, followsReinjection: Bool, callsHooks: Bool, hasExpression: Bool,
    hasHook: Bool, expression: (ValueMemory) -> Void, hook: (AnyObject, ValueMemory) -> Void, fallback: Fallback
  ) throws(InjectionError) {
    let thread = CurrentThread.current
    let former = try beginValue(in: container, on: thread) { state in
      CreationGate.hasValue(state) && !(followsReinjection && isOutdated(state, in: container))
        && copyValue(to: memory)
    }
    guard let former else { return }
    try thread.resolving(memory, of: fields.type) { () throws(InjectionError) in
      do throws(InjectionError) {
        try makeAndStore(
          memory, from: former, in: container, callsHooks: callsHooks, hasExpression: hasExpression,
          hasHook: hasHook, expression: expression, hook: hook, fallback: fallback, on: thread)
      } catch {
        self.memory.head.gate.settle(as: former, by: thread.id)
        throw error
      }
      return true
    }
  }

  /// Makes and stores a value, updates the gate, copies the value to `memory`, and calls the hooks.
  ///
  /// - Parameter state: The state of the gate before the calling thread marked the gate as busy.
  /// - Precondition: The calling thread has marked the gate as busy.
  private func makeAndStore(
    _ memory: ValueMemory, from state: UInt, in container: AnyObject?, callsHooks: Bool, hasExpression: Bool,
    hasHook: Bool, expression: (ValueMemory) -> Void, hook: (AnyObject, ValueMemory) -> Void, fallback: Fallback,
    on thread: CurrentThread
  ) throws(InjectionError) {
    // An expression needs no registry, so it runs even if the property's own registry no longer exists.
    guard let (registry, isKept) = target(for: container) ?? (hasExpression ? (.current, false) : nil) else {
      throw goneRegistry(in: container)
    }
    let request = request(in: container, isForStorage: true, isFromKept: isKept)
    // Each re-injection starts a new epoch. The epoch is read before the value is made, so that a re-injection in the
    // meantime makes the new value outdated.
    let epoch = self.memory.epoch
    let later = laterCell(from: state)
    let value = later?.memory ?? self.memory.value
    var result = InitializerRegistry.PutResult.nothing()
    var isOwn = false
    if fields.type != fields.propertyType {
      // The fallback makes the value, because the registry has no values of the cell's type.
    } else if !hasExpression {
      result = try registry.putValue(value, request, on: thread)
    } else {
      // The loop repeats only if the registration is withdrawn between the search and the use.
      while registry.hasContainers, case .nothing = result,
        let match = registry.match(request, onlyForContainer: true)
      {
        result = try registry.putValue(value, request, from: match, on: thread)
      }
      if case .nothing = result {
        try registry.make(request, nil, in: value, on: thread) { expression(value) }
        (result, isOwn) = (.value(callingHooksOf: nil), true)
      }
    }
    var match: Match?
    switch result {
    case .value where !isOwn && value.isNil(fields.type):
      // A registered initializer has no value yet. Nil isn't stored, so that the next read asks again.
      memory.copy(fields.type, from: value)
      return storeNothing(from: state, on: thread)
    case .value(let heard): match = heard
    case .nothing:
      var isMade = false
      try registry.make(request, nil, in: value, on: thread) { isMade = try fallback(value, request.point) }
      if isMade { break }
      if CreationGate.hasValue(state), copyValue(to: memory) {
        // Nothing can make a new value, so the old value stays and is marked as current.
        return self.memory.head.gate.settle(as: CreationGate.state(state, in: epoch), by: thread.id)
      }
      guard let type = fields.type as? any OptionalValue.Type else { throw registry.missing(request) }
      type.putNil(in: memory)
      return storeNothing(from: state, on: thread)
    }
    memory.copy(fields.type, from: value)
    store(later, inEpoch: epoch, on: thread)
    guard callsHooks else { return }
    callHooks(memory, of: match, by: registry, in: container, hasHook: hasHook, on: thread) { hook($0, memory) }
  }

  /// Copies a stored value to `memory`, or else puts a value from the registry in `memory` and calls the hooks.
  ///
  /// A stored value was assigned, or injected by a `ServiceBox`. The property doesn't store a value from the registry.
  ///
  /// - Parameter requested: The registry to ask; nil for the registry that the property asks by itself.
  @usableFromInline func readOrMakeTransient(
    _ memory: ValueMemory, in container: AnyObject?, from requested: InitializerRegistry?, hasHook: Bool,
    hook: (AnyObject) -> Void
  ) throws(InjectionError) {
    if CreationGate.hasValue(self.memory.head.gate.current), copyValue(to: memory) { return }
    try CurrentThread.current.resolving(memory, of: fields.type) { () throws(InjectionError) in
      guard let target = target(for: container, requested: requested) else { throw goneRegistry(in: container) }
      guard case .value(let match) = try putTransientValue(memory, in: container, from: target) else {
        guard let optional = fields.type as? any OptionalValue.Type else { return false }
        optional.putNil(in: memory)
        return true
      }
      callHooks(memory, of: match, by: target.registry, in: container, hasHook: hasHook, hook: hook)
      return true
    }
  }

  /// Puts a value from the target's registry in `memory` without storing the value in the property.
  ///
  /// - Returns: `.nothing` if the property is an Optional and nothing is registered for it.
  func putTransientValue(
    _ memory: ValueMemory, in container: AnyObject?, from target: Target
  ) throws(InjectionError) -> InitializerRegistry.PutResult {
    let thread = CurrentThread.current
    let request = request(in: container, isFromKept: target.isWeak)
    let result = try target.registry.putValue(memory, request, on: thread)
    if case .nothing = result, !(fields.type is any OptionalValue.Type) { throw target.registry.missing(request) }
    return result
  }

  /// A registry to ask for the value, and whether objects that it makes for the property must hold it weakly.
  typealias Target = (registry: InitializerRegistry, isWeak: Bool)

  /// Returns the registry to ask for the value; nil if it no longer exists.
  ///
  /// The container is the object that holds the property. If it is in a `ServiceBox`, and the box's registry or one of
  /// its parents has a registration for the property's request, the result is the box's registry. Otherwise, the result
  /// is the property's own registry.
  ///
  /// - Parameter requested: The result's registry; nil for the registry that the property asks by itself.
  func target(for container: AnyObject?, requested: InitializerRegistry? = nil) -> Target? {
    // A weak link means that the property's own registry may keep the container alive. Another registry is assumed not
    // to do so. The objects that the other registry makes for this property may therefore keep that registry alive.
    if let requested { return (requested, fields.link.isWeak && requested === fields.link.registry) }
    if Adoptions.areUsed, let container, let adopter = adopter(of: container) { return (adopter, fields.link.isWeak) }
    return fields.target
  }

  /// Reports a request that no registry gets, and returns its error, because the property's registry no longer exists.
  func goneRegistry(in container: AnyObject?) -> InjectionError {
    fields.link.reporter?.report(request(in: container), isFound: false)
    return InjectionError(.notRegistered, through: [point(in: container).step()], advice: adviceOnGoneRegistry)
  }

  /// Returns the registry of the `ServiceBox` that contains the container, or nil if there is no box.
  ///
  /// The result is also nil if neither the box's registry nor any of its parents has a registration for the property's
  /// request. A declared key's own initializer doesn't count as a registration. If several boxes contain the container,
  /// only the box to which the container was added last counts.
  @inline(never) private func adopter(of container: AnyObject) -> InitializerRegistry? {
    guard let adopter = Adoptions.registry(of: container) else { return nil }
    return adopter.isRegistered(request(in: container)) ? adopter : nil
  }

  var adviceOnGoneRegistry: String {
    fields.link.advice(ifGoneFor: "this property of type \(TypeName.of(fields.propertyType))")
  }

  /// Returns whether a re-injection has made the property's value outdated.
  ///
  /// A value is outdated if the registry that the property asks, or one of its parents, has re-injected the property's
  /// service since the value was made or last checked. An assigned value is never outdated. If the value isn't outdated,
  /// the function stores the current epoch in the gate. Later calls then return false at once, until a re-injection, for
  /// example, starts the next epoch.
  ///
  /// - Parameter state: The state of the gate, which contains the epoch of the value.
  private func isOutdated(_ state: UInt, in container: AnyObject?) -> Bool {
    let (made, current) = (CreationGate.state(CreationGate.ready, in: state), memory.epoch)
    if current == made { return false }
    // Only the first value of a cell may have been assigned.
    let isAssigned = state == made && fields.isAssigned
    if !isAssigned { fields.link.reporter?.report(request(in: container)) }
    // If the registry no longer exists, the old value stays, so it isn't outdated.
    if !isAssigned, let registry = target(for: container)?.registry {
      var services = [service.id]
      if let wrapped = service.wrapped { services.append(wrapped.id) }
      // An instance of another type, registered with `as: .anySupertype`, may serve the request. A re-injection of the
      // instance's type then also counts.
      if let match = registry.match(request(in: container)) { services.append(match.record.service.id) }
      if registry.wasReinjected(services, after: made) { return true }
    }
    _ = memory.head.gate.state.compareExchange(
      expected: state, desired: CreationGate.state(state, in: current), ordering: .acquiringAndReleasing)
    return false
  }
}
