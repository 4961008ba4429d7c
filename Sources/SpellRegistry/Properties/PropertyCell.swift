internal import Support
internal import Synchronization

struct PropertyFields: ~Copyable {
  let type: any Any.Type
  let place: SourcePlace
  /// The declared key to ask for instead of the type.
  let key: InjectionKeys?
  /// The name to ask with instead of the property's own.
  let alias: Alias?
  let home: Home
  /// The cell that has taken the place of the wrapper's, for a property that was re-injected or a constant that was reset
  /// while other threads may be reading.
  ///
  /// Unchecked: a cell's fields are constants, atomics and what a lock guards, and its gate guards the value.
  let newer = Lock(Unchecked<PropertyCell?>(value: nil))
  /// Whether there is a value, whether it can be read or was replaced.
  ///
  /// Relaxed, here and below: it is set by the thread that began the gate, and read after the gate by that thread or another.
  let hasValue = Atomic(false)
  /// Whether the value was assigned, so that no re-injection takes its place.
  let isAssigned = Atomic(false)
}

extension PropertyCell {
  /// Puts a value in memory if nothing is registered; returns whether it could.
  @usableFromInline package typealias Fallback = (ValueMemory, InjectionPoint) throws(InjectionError) -> Bool

  @usableFromInline static func make(
    _ type: any Any.Type, size: Int, alignment: Int, at place: SourcePlace, key: InjectionKeys?, alias: String?
  ) -> PropertyCell {
    allocate(size: size, alignment: alignment) {
      PropertyFields(type: type, place: place, key: key, alias: alias.map { Alias($0) }, home: .current)
    }
  }

  /// An empty cell for the property of another one.
  @usableFromInline static func make(like other: PropertyCell) -> PropertyCell {
    func layout<Value>(_: Value.Type) -> (Int, Int) { (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment) }
    let (size, alignment) = _openExistential(other.fields.type, do: layout)
    return allocate(size: size, alignment: alignment) {
      PropertyFields(
        type: other.fields.type, place: other.fields.place, key: other.fields.key,
        alias: other.fields.alias, home: other.fields.home)
    }
  }

  private var service: Service { Service(fields.type, key: fields.key) }

  var identity: PropertyIdentity { PropertyIdentity(memory.head.gate.id, at: fields.place) }

  private func request(in container: AnyObject?) -> Request {
    Request(fields.type, fields.key, of: self, named: fields.alias, in: container)
  }

  func point(in container: AnyObject?) -> InjectionPoint {
    InjectionPoint(service, of: self, named: fields.alias, in: container)
  }

  /// The cell with the property's value: the latest that has taken this one's place.
  var newest: PropertyCell {
    memory.head.gate.current == CreationGate.replaced ? fields.newer.withLock { $0 }.value ?? self : self
  }

  /// Ends the creation of a cell that has an assigned value.
  @usableFromInline func settleAsAssigned() {
    fields.isAssigned.store(true, ordering: .relaxed)
    settleWithValue()
  }

  private func settleWithValue() { settle(as: Epoch.current.state) }

  private func settle(as state: UInt) {
    fields.hasValue.store(true, ordering: .relaxed)
    memory.head.gate.settle(as: state)
  }

  /// Copies the value to memory, after it is made if there is none or if it is outdated, and calls the hooks.
  ///
  /// 1. The registration for this container's class. 2. The property's own expression. 3. Any other registration. 4. The
  /// fallback. 5. Nil, for an Optional type; else an error.
  @usableFromInline func supply(
    _ memory: ValueMemory, in container: AnyObject?, followsReinjection: Bool, isHeard: Bool, hasExpression: Bool,
    hasHook: Bool, expression: (ValueMemory) -> Void, hook: (AnyObject, ValueMemory) -> Void, fallback: Fallback
  ) throws(InjectionError) {
    let thread = CurrentThread.current
    // Once for each cell that takes the place of another meanwhile, and for each wait.
    while true {
      if self.memory.head.gate.current == CreationGate.replaced {
        let cell = newest
        if cell !== self, try supply(from: cell) { return }
      } else if try supply(from: self) {
        return
      }
    }

    /// Returns false to look again.
    func supply(from cell: PropertyCell) throws(InjectionError) -> Bool {
      let state = cell.memory.head.gate.current
      switch state & CreationGate.tags {
      case CreationGate.replaced: return false
      case CreationGate.ready where !followsReinjection || !cell.isOutdated(state, in: container):
        memory.copy(fields.type, from: cell.memory.value)
        return true
      case CreationGate.ready, CreationGate.vacant: break
      default:
        let step = FrameSummary(type: ErasedType(fields.type), record: nil, located: point(in: container).step())
        try Waits.wait(at: cell.memory.head.gate, for: step, on: thread)
        return false
      }
      guard cell.memory.head.gate.begin(from: state, on: thread.id) else { return false }
      try thread.resolving(memory, of: fields.type) { () throws(InjectionError) in
        do throws(InjectionError) {
          try make(
            memory, for: cell, state, in: container, isHeard: isHeard, hasExpression: hasExpression, hasHook: hasHook,
            expression: expression, hook: hook, fallback: fallback, on: thread)
        } catch {
          cell.memory.head.gate.settle(as: state)
          throw error
        }
      }
      return true
    }
  }

  /// Makes a value as the thread that began a cell's gate, stores it, settles the gate, and calls the hooks.
  private func make(
    _ memory: ValueMemory, for cell: PropertyCell, _ state: UInt, in container: AnyObject?, isHeard: Bool,
    hasExpression: Bool, hasHook: Bool, expression: (ValueMemory) -> Void, hook: (AnyObject, ValueMemory) -> Void,
    fallback: Fallback, on thread: CurrentThread
  ) throws(InjectionError) {
    let registry = try registry(for: container)
    let request = request(in: container)
    let gate = cell.memory.head.gate.id
    // Taken before the registry is asked: a re-injection in between makes the value outdated, never the reverse.
    let epoch = Epoch.current.state
    // A former value stays where it is: other threads may be reading it.
    let other = state == CreationGate.vacant ? nil : PropertyCell.make(like: cell)
    let value = other?.memory.value ?? cell.memory.value
    let supply: InitializerRegistry.Supply
    if !hasExpression {
      supply = try registry.supply(value, request, propertyGate: gate, isKept: fields.home.isWeak, on: thread)
    } else if registry.hasContainers, let match = registry.match(request, onlyForContainer: true) {
      supply = try registry.supply(
        value, request, match.record, of: Borrowed(match.owner), propertyGate: gate, isKept: fields.home.isWeak,
        on: thread)
    } else {
      var frame = Frame(type: fields.type)
      frame.registry = Borrowed(registry)
      frame.isKept = fields.home.isWeak || thread.isMakingKept
      frame.gate = gate
      if let obstacle = thread.obstacle(to: frame) { throw thread.error(obstacle, to: frame, at: request.step()) }
      thread.fields.frames.append(frame)
      expression(value)
      thread.fields.frames.removeLast()
      // The frame counted no reference.
      withExtendedLifetime(registry) {}
      supply = .value
    }
    var record: RegistrationRecord?
    switch supply {
    case .value: break
    case .heardValue(let heard): record = heard
    case .nothing:
      if try fallback(value, request.point) { break }
      if state != CreationGate.vacant {
        // What nothing makes any more stays, and isn't injected again.
        memory.copy(fields.type, from: cell.memory.value)
        return cell.memory.head.gate.settle(as: epoch)
      }
      guard let type = fields.type as? any OptionalValue.Type else { throw registry.missing(request) }
      type.putNil(in: memory)
      return cell.memory.head.gate.settle(as: state)
    }
    memory.copy(fields.type, from: value)
    if let other {
      other.settle(as: epoch)
      cell.memory.head.gate.settle(as: epoch)
      link(other, inPlaceOf: cell)
    } else {
      cell.settle(as: epoch)
    }
    guard isHeard else { return }
    announce(memory, of: record, by: registry, in: container, hasHook: hasHook) { hook($0, memory) }
  }

  /// Calls each hook for an injection, once, with no lock held: the registration's, the property's, the
  /// container's observer, the registry's.
  func announce(
    _ memory: ValueMemory, of record: RegistrationRecord?, by registry: InitializerRegistry?, in container: AnyObject?,
    hasHook: Bool = true, hook: (AnyObject) -> Void
  ) {
    let observer = observer(container, on: .current)
    if !hasHook && observer == nil && record == nil && !(registry?.hooks.areUsed ?? false) { return }
    // A hook may put other storage in place, by which the name would no longer be found.
    let point = point(in: container).withKnownName()
    record?.hooks.call(memory, fields.type, at: point)
    if let container { hook(container) }
    observer?.hear(memory.any(fields.type), at: point)
    registry?.hooks.call(memory, fields.type, at: point)
  }

  /// Makes a value that isn't stored yet; nil for an Optional that nothing makes.
  ///
  /// - Parameter requested: The registry to ask instead of the property's own.
  func supplyTransient(
    _ memory: ValueMemory, in container: AnyObject?, from requested: InitializerRegistry?
  ) throws(InjectionError) -> InitializerRegistry.Supply {
    let thread = CurrentThread.current
    let registry = if let requested { requested } else { try registry(for: container) }
    let request = request(in: container)
    // Another registry than its own doesn't keep the object, and so may be kept by what it makes.
    let isKept = fields.home.isWeak && registry === fields.home.registry
    let supply = try registry.supply(memory, request, isKept: isKept, on: thread)
    if case .nothing = supply, !(fields.type is any OptionalValue.Type) { throw registry.missing(request) }
    return supply
  }

  /// The registry to ask: that of a box in which the container is a service, else the property's own.
  private func registry(for container: AnyObject?) throws(InjectionError) -> InitializerRegistry {
    if let container, let adopter = Adoptions.registry(of: container), adopter.match(request(in: container)) != nil {
      return adopter
    }
    if let registry = fields.home.registry { return registry }
    fields.home.reporter?.report(request(in: container), isFound: false)
    throw InjectionError(.notRegistered, through: [point(in: container).step()], advice: adviceOnGoneRegistry)
  }

  var adviceOnGoneRegistry: String { Home.advice(ifGoneFor: "this property of type \(TypeName.of(fields.type))") }

  // MARK: Other cells in place of this one

  /// Puts a cell in place of another, unless that isn't the newest any more: then its value is only for the reader that asked.
  @discardableResult
  private func link(_ new: PropertyCell, inPlaceOf old: PropertyCell) -> Bool {
    let change = Unchecked(value: (root: self, old: old, new: new))
    let (isLinked, dropped) = fields.newer.withLock { newer -> (Bool, Unchecked<PropertyCell?>) in
      guard (newer.value ?? change.value.root) === change.value.old else { return (false, Unchecked(value: nil)) }
      defer { newer = Unchecked(value: change.value.new) }
      return (true, newer)
    }
    if isLinked {
      // The wrapper's own cell stays replaced for good: its readers look for the newest.
      memory.head.gate.settle(as: CreationGate.replaced)
      old.memory.head.gate.settle(as: CreationGate.replaced)
    }
    // Released with no lock held.
    withExtendedLifetime(dropped) {}
    return isLinked
  }

  /// Forgets the value while other threads may be reading it.
  func forget() {
    while true {
      let newest = newest
      if newest.memory.head.gate.current == CreationGate.vacant { return }
      if link(.make(like: self), inPlaceOf: newest) { return }
    }
  }

  /// Stores a value if there is none; returns whether it did.
  ///
  /// - Parameter replacing: Whether to put the value in place of another, too.
  func store(replacing: Bool = false, _ put: (ValueMemory) -> Void) throws(InjectionError) -> Bool {
    let thread = CurrentThread.current
    while true {
      let cell = newest
      let state = cell.memory.head.gate.current
      if CreationGate.isBusy(state) {
        let step = FrameSummary(type: ErasedType(fields.type), record: nil)
        try Waits.wait(at: cell.memory.head.gate, for: step, on: thread)
      } else if state == CreationGate.vacant {
        guard cell.memory.head.gate.begin(from: state, on: thread.id) else { continue }
        put(cell.memory.value)
        cell.settleWithValue()
        return true
      } else if state != CreationGate.replaced {
        if !replacing { return false }
        let new = PropertyCell.make(like: self)
        put(new.memory.value)
        new.settleWithValue()
        if link(new, inPlaceOf: cell) { return true }
      }
    }
  }

  /// Whether a value in this state was injected before its type was last re-injected; if not, the state is brought up to date,
  /// so that the next read is a fast one again.
  private func isOutdated(_ state: UInt, in container: AnyObject?) -> Bool {
    let current = Epoch.current.state
    if current == state { return false }
    if !fields.isAssigned.load(ordering: .relaxed) { fields.home.reporter?.report(request(in: container)) }
    // Without its registry nothing makes another value.
    if !fields.isAssigned.load(ordering: .relaxed), let registry = fields.home.registry {
      var services = [service.id]
      if let wrapped = service.wrapped { services.append(wrapped.id) }
      // A registration of another type may serve this one as a supertype.
      if let match = registry.match(request(in: container)) { services.append(match.record.service.id) }
      if registry.wasReinjected(services, after: state) { return true }
    }
    _ = memory.head.gate.state.compareExchange(
      expected: state, desired: current, ordering: .acquiringAndReleasing)
    return false
  }
}

private func observer(_ container: AnyObject?, on thread: CurrentThread) -> (any InjectionObserver)? {
  guard let container, thread.observes(type(of: container)) else { return nil }
  return observer(container)
}

/// - Parameter value: An object, as `Any`: a cast from `AnyObject` doesn't check that a conformance is isolated to an actor that
///   isn't this one. Never inlined, since the optimizer would make that cast of it.
@inline(never) private func observer(_ value: Any) -> (any InjectionObserver)? { value as? any InjectionObserver }

extension InjectionObserver {
  /// Tells the object of an injection.
  ///
  /// - Precondition: Reflection shows the property's name; see ``NamedProperty``.
  fileprivate func hear(_ value: Any, at point: InjectionPoint) {
    guard let name = point.declaredName else {
      trap(
        """
        \(TypeName.of(type(of: self))) observes its injections, but reflection does not show the name of the \
        property declared here: build it with reflection metadata and without a custom mirror, and conform the \
        property's wrapper to NamedProperty.
        """, at: point.identity?.place)
    }
    didInject(value, intoProperty: name)
  }
}
