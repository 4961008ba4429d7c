internal import Synchronization

// A read that finds no value: what makes it, in which order, and who hears of it.
//
//   1. The registration for this container's class.
//   2. The property's own expression.
//   3. Any other registration.
//   4. The wrapper's fallback.
//   5. Nil, for an Optional type, which isn't kept; else an error.
//
// The most common first reads take a shorter way, which is in `FirstRead.swift`; this is the whole, compiled once for all
// types. A `Value` is handed on as it is, never in an Optional or a tuple: the runtime would have to look up that type each
// time.

extension PropertyStorage {
  /// Makes a value if the registry and the property's expression give none; nil if it can't.
  package typealias Fallback = (InjectionPoint) throws(InjectionError) -> Value?

  /// The value: made now if there is none, once, however many threads ask.
  ///
  /// It is made with no lock held and stored; then the hooks are called: the registration's, the property's, the
  /// container's observer, the registry's.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if one does.
  ///   - followsReinjection: Whether an injected value whose type was re-injected since is made again.
  ///   - keep: Keeps the value, which is of an Optional type, elsewhere; the storage keeps a nil, in a state that no fast read
  ///     takes for current.
  ///   - fallback: Makes a value if nothing is registered.
  /// - Throws: Why there is no value; nothing is stored then, and the next read tries again.
  package func makeValue(
    in container: AnyObject?, followsReinjection: Bool = false, keptBy keep: ((Value) -> Void)? = nil,
    fallback: Fallback
  ) throws(InjectionError) -> Value {
    let thread = ThreadState.current
    while true {
      let newest = newest
      let state = try newest.settledState(in: container, on: thread)
      switch state & CreationGate.tags {
      case CreationGate.ready:
        if !followsReinjection || !newest.isOutdated(state, in: container) {
          return withExtendedLifetime(newest) { newest.slot.unsafeValue }
        }
      case CreationGate.replaced: continue
      default: break
      }
      if newest.slot.record.gate.begin(from: state, on: thread.id) {
        do throws(InjectionError) {
          return try makeAndStore(
            in: container, for: newest, from: state, keptBy: keep, fallback: fallback, on: thread)
        } catch {
          newest.slot.record.gate.settle(as: state, on: thread.id)
          throw error
        }
      }
    }
  }

  /// Resolves the property, as `makeValue` does, with no fallback.
  public func resolve(in container: AnyObject?, followsReinjection: Bool = false) throws(InjectionError) -> Value {
    // Not a default argument: that would be a closure on the heap at each call.
    try makeValue(in: container, followsReinjection: followsReinjection) { _ in nil }
  }

  /// Makes a value for this one read, stores nothing, and calls the hooks.
  ///
  /// - Parameter requested: The registry to ask instead of the property's own.
  package func makeTransientValue(
    in container: AnyObject?, from requested: InitializerRegistry?
  ) throws(InjectionError) -> Value {
    let thread = ThreadState.current
    let registry = if let requested { requested } else { try registry(in: container) }
    var asker = slot.record.asker(in: container)
    // Another registry isn't the one that keeps the object, and so may be kept by what it makes.
    if let requested, requested !== slot.record.reference?.registry { asker.isKept = false }
    let match = match(in: registry, for: container, on: thread)
    if match == nil && !hasExpression { return try registry.nilOrThrow(at: point(in: container)) }
    let value = try value(of: match, from: registry, in: container, asker: asker, gate: nil, on: thread)
    notify(value, of: match, through: registry, in: container)
    thread.completeResolution()
    return value
  }

  /// Makes the value for the newest storage, as the thread that began its gate, and settles the gate.
  private func makeAndStore(
    in container: AnyObject?, for newest: PropertyStorage, from state: UInt, keptBy keep: ((Value) -> Void)?,
    fallback: Fallback, on thread: CurrentThread
  ) throws(InjectionError) -> Value {
    let registry = try registry(in: container)
    // Taken before the registry is asked: a re-injection in between makes the value outdated, never the reverse.
    let epoch = slot.record.currentEpoch
    let match = match(in: registry, for: container, on: thread)
    if match == nil && !hasExpression {
      return try makeFallback(
        in: container, for: newest, from: state, epoch: epoch, asking: registry, fallback, on: thread)
    }
    let value = try value(
      of: match, from: registry, in: container, asker: slot.record.asker(in: container),
      gate: newest.slot.record.gate.identity, on: thread)
    if let keep {
      keep(value)
      store(try registry.nilOrThrow(at: point(in: container)), for: newest, in: CreationGate.readyElsewhere, on: thread)
    } else {
      store(value, for: newest, in: epoch, on: thread)
    }
    notify(value, of: match, through: registry, in: container)
    thread.completeResolution()
    return value
  }

  /// What the wrapper makes of nothing; else the value that there was; else nil or an error.
  private func makeFallback(
    in container: AnyObject?, for newest: PropertyStorage, from state: UInt, epoch: UInt,
    asking registry: InitializerRegistry, _ fallback: Fallback, on thread: CurrentThread
  ) throws(InjectionError) -> Value {
    if let value = try fallback(point(in: container)) {
      store(value, for: newest, in: epoch, on: thread)
      notify(value, of: nil, through: registry, in: container)
      return value
    }
    // A value for which nothing is registered any more stays.
    if newest.slot.record.hasValue.load(ordering: .relaxed) {
      newest.slot.record.gate.settle(as: epoch, on: thread.id)
      return newest.slot.unsafeValue
    }
    let nothing: Value = try registry.nilOrThrow(at: point(in: container))
    newest.slot.record.gate.settle(as: state, on: thread.id)
    return nothing
  }

  /// The registry to ask; the declaration isn't copied for it.
  private func registry(in container: AnyObject?) throws(InjectionError) -> InitializerRegistry {
    guard let reference = slot.record.reference else { return .shared }
    if let registry = reference.registry { return registry }
    throw InjectionError(
      .notRegistered, through: [point(in: container).step(Value.self)],
      advice: PropertyDeclaration<Value>.adviceOnGoneRegistry)
  }

  private var hasExpression: Bool { slot.fields.expression != nil }

  /// The registration that makes the value; nil if the property's own expression comes first, or none does.
  private func match(
    in registry: InitializerRegistry, for container: AnyObject?, on thread: CurrentThread
  ) -> Match? {
    // What is registered for no container in particular comes after the property's own expression.
    if hasExpression && !registry.hasClassConstraints { return nil }
    return registry.match(
      for: service, named: .ofProperty, inContainer: container != nil, onlyConstrained: hasExpression, on: thread
    ) { point(in: container) }
  }

  /// What a registration makes or, without one, the property's own expression.
  private func value(
    of match: Match?, from registry: InitializerRegistry, in container: AnyObject?, asker: ResolutionFrame.Asker,
    gate: GateID?, on thread: CurrentThread
  ) throws(InjectionError) -> Value {
    if let match {
      return try registry.value(of: match, asker: asker, propertyGate: gate, on: thread) { point(in: container) }
    }
    guard let expression = slot.fields.expression else {
      trap("Nothing makes the property declared at \(identity.place); please report this.")
    }
    let frame = ResolutionFrame(on: thread, type: Value.self, asker: asker, gate: gate)
    return try thread.making(frame, at: { InjectionStep(Service(Value.self)) }) {
      // What a kept object makes must not keep the registry: it refers to the registry as the object does.
      asker.isKept ? registry.runInitializer(keepsValue: true, expression) : expression()
    }
  }

  /// Calls each hook that wants to hear of this injection, once, with no lock held.
  private func notify(
    _ value: Value, of match: Match?, through registry: InitializerRegistry, in container: AnyObject?
  ) {
    // The hook may put other storage in place, by which the name would no longer be found.
    let known = slot.fields.options?.hook == nil ? nil : point(in: container).withKnownName()
    func at() -> InjectionPoint { known ?? point(in: container) }
    match?.registration.hooks.callAll(value, at: at())
    if let container { slot.fields.options?.hook?(container, value) }
    registry.notifyObservers(of: value, in: container, at: at)
  }

  /// The state, once no thread is making the value.
  private func settledState(
    in container: AnyObject?, on thread: CurrentThread
  ) throws(InjectionError) -> UInt {
    while true {
      let state = slot.record.gate.current
      guard CreationGate.isBusy(state) else { return state }
      do throws(InjectionError) { try slot.record.gate.wait(for: Value.self, on: thread) } catch {
        throw error.located(at: point(in: container))
      }
    }
  }

  /// Writes a value for the newest storage, whose gate this thread has begun, and settles the gate.
  private func store(
    _ value: Value, for newest: PropertyStorage, in epoch: UInt, on thread: CurrentThread
  ) {
    if newest.slot.record.hasValue.load(ordering: .relaxed) {
      // If the value was reset meanwhile, this one goes to the readers that asked before.
      _ = link(PropertyStorage(declaration, value: value, state: epoch, isAssigned: false), inPlaceOf: newest)
    } else {
      newest.slot.memory.put(value)
      newest.slot.record.hasValue.store(true, ordering: .relaxed)
      newest.slot.record.gate.settle(as: epoch, on: thread.id)
    }
  }

  /// Stores a value if there is none; returns whether it did.
  ///
  /// Of any number of threads that try, one does.
  ///
  /// - Throws: `.cycle` if this thread is making the property's value, so that waiting for it would never end.
  package func assignIfVacant(_ value: Value) throws(InjectionError) -> Bool {
    try change(ifVacant: true, to: value, in: nil)
  }

  /// Stores a value that is injected from elsewhere, in place of the one that there is, and calls the hooks.
  package func inject(_ value: Value, in container: AnyObject?) throws(InjectionError) {
    let registry = try registry(in: container)
    _ = try change(ifVacant: false, to: value, in: container)
    notify(value, of: nil, through: registry, in: container)
  }

  private func change(ifVacant: Bool, to value: Value, in container: AnyObject?) throws(InjectionError) -> Bool {
    let thread = ThreadState.current
    while true {
      let newest = newest
      let state = try newest.settledState(in: container, on: thread)
      if state == CreationGate.replaced { continue }
      if ifVacant && state != CreationGate.vacant { return false }
      if newest.slot.record.gate.begin(from: state, on: thread.id) {
        store(value, for: newest, in: slot.record.currentEpoch, on: thread)
        return true
      }
    }
  }

  /// Forgets the value while other threads may be reading it; the next read makes another.
  ///
  /// A value that is being made goes to the thread that makes it. For a property of an object or a struct, put
  /// ``replacedWithNothing()`` into the wrapper's field instead.
  public func forget() {
    while true {
      let newest = newest
      if newest.slot.record.gate.current == CreationGate.vacant { return }
      if link(PropertyStorage(declaration), inPlaceOf: newest) { return }
    }
  }

  /// Makes a value as a read would, but from `registry`, and stores nothing yet.
  ///
  /// - Returns: What stores the value, and in turn returns what calls the hooks; nil if the property has a value, or is
  ///   an Optional for which nothing is registered.
  package func prepareValue(
    in container: AnyObject?, from registry: InitializerRegistry
  ) throws(InjectionError) -> (() throws(InjectionError) -> () -> Void)? {
    if hasValue { return nil }
    let thread = ThreadState.current
    guard let match = match(in: registry, for: container, on: thread) else {
      _ = try registry.nilOrThrow(at: point(in: container)) as Value
      return nil
    }
    let asker = slot.record.asker(in: container)
    let value = try value(of: match, from: registry, in: container, asker: asker, gate: nil, on: thread)
    return { () throws(InjectionError) in
      try assignIfVacant(value) ? { notify(value, of: match, through: registry, in: container) } : {}
    }
  }

  /// Whether a value in this state was injected before its type was last re-injected; if not, the state is brought up
  /// to date, so that the next read is a fast one again.
  private func isOutdated(_ state: UInt, in container: AnyObject?) -> Bool {
    let current = slot.record.currentEpoch
    if current == state { return false }
    // Without its registry nothing makes another value.
    if !slot.record.isAssigned.load(ordering: .relaxed),
      let registry = slot.record.reference.map(\.registry) ?? .shared
    {
      var services = [service.identifier]
      if let optional = Value.self as? any OptionalValue.Type {
        services.append(ObjectIdentifier(optional.wrappedType))
      }
      // A registration of another type may serve this one as a supertype.
      let match = match(in: registry, for: container, on: ThreadState.current)
      if let match { services.append(match.registration.service.identifier) }
      if registry.isOutdated(state, services) { return true }
    }
    _ = slot.record.gate.state.compareExchange(expected: state, desired: current, ordering: .acquiringAndReleasing)
    return false
  }
}
