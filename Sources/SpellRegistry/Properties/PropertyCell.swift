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
        link: .current)
    }
  }

  /// Returns an empty cell for another form of this property's value, such as a weak reference.
  ///
  /// No registry is asked for a value in this form. Instead, each read passes a ``Fallback`` closure that makes the
  /// value.
  @usableFromInline func allocate(for type: any Any.Type, size: Int, alignment: Int) -> PropertyCell {
    PropertyCell.allocate(size: size, alignment: alignment) {
      PropertyFields(
        type: type, propertyType: fields.propertyType, place: fields.place, key: fields.key,
        requestedName: fields.requestedName,
        link: fields.link)
    }
  }

  /// Returns an empty cell for the same property, and for the same type of value, as the cell `other`.
  @usableFromInline static func allocate(like other: PropertyCell) -> PropertyCell {
    func layout<Value>(_: Value.Type) -> (Int, Int) { (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment) }
    let (size, alignment) = _openExistential(other.fields.type, do: layout)
    return other.allocate(for: other.fields.type, size: size, alignment: alignment)
  }

  private var service: Service { Service(fields.propertyType, key: fields.key) }

  var identity: PropertyIdentity { PropertyIdentity(memory.head.gate.id, at: fields.place) }

  private func request(in container: AnyObject?) -> Request {
    Request(fields.propertyType, fields.key, of: self, named: fields.requestedName, in: container)
  }

  func point(in container: AnyObject?) -> InjectionPoint {
    InjectionPoint(service, of: self, named: fields.requestedName, in: container)
  }

  /// The property's current cell: the newest replacement of this cell, or this cell itself if it was never replaced.
  var newest: PropertyCell {
    memory.head.gate.current == CreationGate.replaced ? fields.newer.withLock { $0 }.cell ?? self : self
  }

  /// The property's current cell if it contains a value, even if another thread is making a new value; else nil.
  var newestWithValue: PropertyCell? {
    while true {
      let cell = newest
      let hasValue = cell.fields.hasValue.load(ordering: .acquiring)
      // If `cell` was replaced after `newest` returned it, the value in `cell` may be outdated or dropped.
      if cell.memory.head.gate.current != CreationGate.replaced { return hasValue ? cell : nil }
    }
  }

  /// Marks the value in the cell as assigned, and lets other threads read the value.
  @usableFromInline func settleAsAssigned() {
    fields.isAssigned.store(true, ordering: .relaxed)
    settleWithValue()
  }

  private func settleWithValue() { settle(as: memory.epoch) }

  private func settle(as state: UInt) {
    fields.hasValue.store(true, ordering: .releasing)
    memory.head.gate.settle(as: state)
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
    // The loop tries again after each wait, and after another thread has replaced the cell or changed the gate's state.
    while true {
      if self.memory.head.gate.current == CreationGate.replaced {
        let cell = newest
        if cell !== self, try putValue(of: cell) { return }
      } else if try putValue(of: self) {
        return
      }
    }

    /// Copies the value of `cell` to `memory`, after making the value if necessary.
    ///
    /// - Returns: True if `memory` has the value. False if another thread was making the value, has replaced the cell,
    ///   or has changed the gate's state. In this case, the caller must find the current cell and try again.
    func putValue(of cell: PropertyCell) throws(InjectionError) -> Bool {
      let state = cell.memory.head.gate.current
      switch state & CreationGate.tags {
      case CreationGate.replaced: return false
      case CreationGate.ready where !followsReinjection || !isOutdated(cell, state, in: container):
        memory.copy(fields.type, from: cell.memory.value)
        return true
      case CreationGate.ready, CreationGate.vacant: break
      default:
        try Waits.wait(at: cell.memory.head.gate, for: point(in: container).step(), on: thread)
        return false
      }
      guard cell.memory.head.gate.begin(from: state, on: thread.id) else { return false }
      try thread.resolving(memory, of: fields.type) { () throws(InjectionError) in
        do throws(InjectionError) {
          try makeAndStore(
            memory, for: cell, state, in: container, callsHooks: callsHooks, hasExpression: hasExpression,
            hasHook: hasHook, expression: expression, hook: hook, fallback: fallback, on: thread)
        } catch {
          cell.memory.head.gate.settle(as: state)
          throw error
        }
        return true
      }
      return true
    }
  }

  /// Makes and stores a value for `cell`, updates the cell's gate, copies the value to `memory`, and calls the hooks.
  ///
  /// - Parameter state: The state of the cell's gate before the calling thread marked the gate as busy.
  /// - Precondition: The calling thread has marked the cell's gate as busy.
  private func makeAndStore(
    _ memory: ValueMemory, for cell: PropertyCell, _ state: UInt, in container: AnyObject?, callsHooks: Bool,
    hasExpression: Bool, hasHook: Bool, expression: (ValueMemory) -> Void, hook: (AnyObject, ValueMemory) -> Void,
    fallback: Fallback, on thread: CurrentThread
  ) throws(InjectionError) {
    let (registry, isKept) = try registry(for: container, orCurrent: hasExpression)
    var request = request(in: container)
    (request.gate, request.isFromKept) = (cell.memory.head.gate.id, isKept)
    // Each re-injection starts a new epoch. The epoch is read before the value is made, so that a re-injection in the
    // meantime makes the new value outdated.
    let epoch = self.memory.epoch
    // Other threads may be reading the old value, so the new value goes into a new cell.
    let other = state == CreationGate.vacant ? nil : PropertyCell.allocate(like: cell)
    let value = other?.memory.value ?? cell.memory.value
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
        result = try registry.putScopedValue(value, request, match.record, of: Borrowed(match.owner), on: thread)
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
      if let other { replace(cell, with: other) } else { cell.memory.head.gate.settle(as: state) }
      return
    case .value(let heard): match = heard
    case .nothing:
      var isMade = false
      try registry.make(request, nil, in: value, on: thread) { isMade = try fallback(value, request.point) }
      if isMade { break }
      if state != CreationGate.vacant {
        // Nothing can make a new value, so the old value stays and is marked as current.
        memory.copy(fields.type, from: cell.memory.value)
        return cell.memory.head.gate.settle(as: epoch)
      }
      guard let type = fields.type as? any OptionalValue.Type else { throw registry.missing(request) }
      type.putNil(in: memory)
      return cell.memory.head.gate.settle(as: state)
    }
    memory.copy(fields.type, from: value)
    if let other {
      // The old cell's gate changes directly from busy to replaced, so that no waiting reader takes the old value.
      other.settle(as: epoch)
      replace(cell, with: other)
    } else {
      cell.settle(as: epoch)
    }
    guard callsHooks else { return }
    callHooks(memory, of: match, by: registry, in: container, hasHook: hasHook, on: thread) { hook($0, memory) }
  }

  /// Copies a stored value to `memory`, or else puts a value from the registry in `memory` and calls the hooks.
  ///
  /// A stored value was assigned, or injected by a `ServiceBox`. The property doesn't store a value from the registry.
  ///
  /// - Parameter requested: The registry to ask; nil for the registry that ``registry(for:)`` returns.
  @usableFromInline func readOrMakeTransient(
    _ memory: ValueMemory, in container: AnyObject?, from requested: InitializerRegistry?, hasHook: Bool,
    hook: (AnyObject) -> Void
  ) throws(InjectionError) {
    let newest = newest
    if newest.memory.isReady { return memory.copy(fields.type, from: newest.memory.value) }
    try CurrentThread.current.resolving(memory, of: fields.type) { () throws(InjectionError) in
      let registry = if let requested { requested } else { try registry(for: container).registry }
      guard case .value(let match) = try putTransientValue(memory, in: container, from: registry) else {
        guard let optional = fields.type as? any OptionalValue.Type else { return false }
        optional.putNil(in: memory)
        return true
      }
      callHooks(memory, of: match, by: registry, in: container, hasHook: hasHook, hook: hook)
      return true
    }
  }

  /// Puts a value from `registry` in `memory` without storing the value in the property.
  ///
  /// - Returns: `.nothing` if the property is an Optional and nothing is registered for it.
  func putTransientValue(
    _ memory: ValueMemory, in container: AnyObject?, from registry: InitializerRegistry
  ) throws(InjectionError) -> InitializerRegistry.PutResult {
    let thread = CurrentThread.current
    var request = request(in: container)
    // A weak link means that the property's own registry may keep the container alive. Another registry is assumed not
    // to do so. The objects that the other registry makes for this property may therefore keep that registry alive.
    request.isFromKept = fields.link.isWeak && registry === fields.link.registry
    let result = try registry.putValue(memory, request, on: thread)
    if case .nothing = result, !(fields.type is any OptionalValue.Type) { throw registry.missing(request) }
    return result
  }

  /// Returns the registry to ask for the value.
  ///
  /// The container is the object that holds the property. If it is in a `ServiceBox`, and the box's registry or one of
  /// its parents has a registration for the property's request, the result is the box's registry. Otherwise, the result
  /// is the property's own registry.
  ///
  /// - Parameter orCurrent: Whether to return the current registry if the property's own registry no longer exists.
  ///   The argument is true for a property with an expression, because the expression needs no registry.
  /// - Returns: The registry. If `isWeak` is true, objects that the registry makes for the property must hold the
  ///   registry weakly.
  /// - Throws: `.notRegistered` if the property's own registry no longer exists and `orCurrent` is false.
  func registry(
    for container: AnyObject?, orCurrent: Bool = false
  ) throws(InjectionError) -> (registry: InitializerRegistry, isWeak: Bool) {
    if Adoptions.areUsed, let container, let adopter = adopter(of: container) { return (adopter, fields.link.isWeak) }
    if let target = fields.target { return (target.registry, target.isWeak) }
    if orCurrent { return (.current, false) }
    fields.link.reporter?.report(request(in: container), isFound: false)
    throw InjectionError(.notRegistered, through: [point(in: container).step()], advice: adviceOnGoneRegistry)
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
    RegistryLink.advice(ifGoneFor: "this property of type \(TypeName.of(fields.propertyType))")
  }

  // MARK: Replacement by a new cell

  /// Makes `new` the property's current cell, unless `old` is no longer the current cell.
  ///
  /// - Returns: Whether `new` has replaced `old`.
  @discardableResult
  private func replace(_ old: PropertyCell, with new: PropertyCell) -> Bool {
    let change = Unchecked(value: (root: self, old: old, new: new))
    let (isReplaced, dropped) = fields.newer.withLock { newer -> (Bool, PropertyFields.Newer) in
      guard (newer.cell ?? change.value.root) === change.value.old else { return (false, .init(cell: nil)) }
      defer { newer = .init(cell: change.value.new) }
      return (true, newer)
    }
    if isReplaced {
      // `self`, the cell in the property wrapper, is marked too, so that readers of the wrapper use the newest cell.
      memory.head.gate.settle(as: CreationGate.replaced)
      old.memory.head.gate.settle(as: CreationGate.replaced)
    }
    // The dropped cell is released outside the lock, because the deinitializer of its value may run any code.
    withExtendedLifetime(dropped) {}
    return isReplaced
  }

  /// Drops the property's value, even while other threads read the property.
  ///
  /// If the property wrapper's own cell contains a value, this value stays in memory for as long as that cell, because
  /// other threads may be reading the value.
  func forget() {
    while true {
      let newest = newest
      if newest.memory.head.gate.current == CreationGate.vacant { return }
      if replace(newest, with: .allocate(like: self)) { return }
    }
  }

  /// Returns the property's current cell, after waiting for the thread, if any, that is making the cell's value.
  ///
  /// - Throws: `.cycle` if the calling thread is making the value, or if the thread that makes it waits for the calling
  ///   thread.
  func newestWhenSettled(on thread: CurrentThread = .current) throws(InjectionError) -> PropertyCell {
    while true {
      let cell = newest
      guard CreationGate.isBusy(cell.memory.head.gate.current) else { return cell }
      try Waits.wait(at: cell.memory.head.gate, for: InjectionStep(Service(fields.propertyType)), on: thread)
    }
  }

  /// Stores the value that `put` puts in memory, unless the property already has a value and `replacing` is false.
  ///
  /// - Returns: Whether the value was stored.
  func store(replacing: Bool = false, _ put: (ValueMemory) -> Void) throws(InjectionError) -> Bool {
    let thread = CurrentThread.current
    while true {
      let cell = try newestWhenSettled(on: thread)
      let state = cell.memory.head.gate.current
      if state == CreationGate.vacant {
        guard cell.memory.head.gate.begin(from: state, on: thread.id) else { continue }
        put(cell.memory.value)
        cell.settleWithValue()
        return true
      } else if !CreationGate.isBusy(state) && state != CreationGate.replaced {
        if !replacing { return false }
        let new = PropertyCell.allocate(like: self)
        put(new.memory.value)
        new.settleWithValue()
        if replace(cell, with: new) { return true }
      }
    }
  }

  /// Returns whether a re-injection has made the value of `cell`, the property's current cell, outdated.
  ///
  /// A value is outdated if the property's registry or one of its parents has re-injected the property's service since
  /// the value was made or last checked. An assigned value is never outdated. If the value isn't outdated, the function
  /// stores the current epoch in the gate. Later calls then return false at once, until a re-injection, for example,
  /// starts the next epoch.
  ///
  /// - Parameter state: The state of the gate of `cell`, which contains the epoch of the value.
  /// - Precondition: `self` is the cell in the property wrapper, because reflection finds the property's name with the
  ///   help of that cell.
  private func isOutdated(_ cell: PropertyCell, _ state: UInt, in container: AnyObject?) -> Bool {
    let current = memory.epoch
    if current == state { return false }
    let isAssigned = cell.fields.isAssigned.load(ordering: .relaxed)
    if !isAssigned { fields.link.reporter?.report(request(in: container)) }
    // If the property's own registry no longer exists, the old value stays, so it isn't outdated.
    if !isAssigned, let registry = fields.link.registry {
      var services = [service.id]
      if let wrapped = service.wrapped { services.append(wrapped.id) }
      // An instance of another type, registered with `as: .anySupertype`, may serve the request. A re-injection of the
      // instance's type then also counts.
      if let match = registry.match(request(in: container)) { services.append(match.record.service.id) }
      if registry.wasReinjected(services, after: state) { return true }
    }
    _ = cell.memory.head.gate.state.compareExchange(
      expected: state, desired: current, ordering: .acquiringAndReleasing)
    return false
  }
}
