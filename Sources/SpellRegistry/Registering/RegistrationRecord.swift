internal import Support
internal import Synchronization

/// A registration, with the type of its values erased.
package final class RegistrationRecord: Sendable {
  /// The requests that a registration is for.
  ///
  /// In one registry, a new registration replaces an older registration whose `Key` is equal. Two keys whose
  /// `.containing` names differ only in case aren't equal, although both keys are for the same requests.
  struct Key: Equatable, Sendable {
    let service: Service
    let container: ClassConstraint?
    let name: PropertyName?
    let servesSupertypes: Bool
  }

  package let service: Service
  package let name: PropertyName?
  let initializer: ErasedInitializer
  package let place: SourcePlace
  package let lifetime: ScopeLifetime
  package let expiry: Duration?
  /// Whether this is a declared key's default, which is used only if no other registration matches the request.
  package let isDefault: Bool
  /// The registration's number in the process; a newer registration has a larger number.
  package let age: UInt64
  /// The ``InitializerRegistry/number`` of the registry that has, or had, the registration.
  let registryNumber: UInt64
  let hooks = Hooks()
  let retention: Retention

  /// The way in which the registration keeps its values.
  enum Retention: Sendable {
    case nothing
    /// Each resolution keeps a value for each registry in which the initializer runs.
    case graph
    /// The registration keeps one value for all requests.
    case shared(KeptValue)
    /// The registration keeps a value for each list of arguments of a factory; nil if the factory's scope keeps no
    /// values between resolutions.
    case factory(FactoryValues?)
  }

  typealias Completion = @Sendable (ValueMemory) -> @Sendable (Resolver) -> Void
  /// Whether any completion hook was added.
  ///
  /// Relaxed ordering suffices: a thread that has synchronized with the thread that added a completion hook sees the
  /// flag set.
  private let mayHaveCompletions = Atomic(false)
  private let isReported = Atomic(false)
  private let notes = Lock<[Note]>([])
  /// A piece of information that only few registrations have.
  private enum Note: Sendable {
    case completion(Completion)
    /// A hook that is called with each kept value when the registry drops the value.
    case removal(@Sendable (ValueMemory) -> Void)
    /// The simplified name of the registered type, for finding registrations that are similar to a failed request.
    case bareName(BareName)
    /// The place of the registration that this one replaced.
    case replaced(SourcePlace)
    /// The stay of the registered instance in a `ServiceBox`.
    case adoption(Adoption)
    /// A registration from which this registration's initializer requested a value, according to a ``RequestRecorder``.
    case supplier(WeakReference)
  }
  private static let lastAge = Atomic<UInt64>(0)

  init(
    for service: Service, named name: PropertyName? = nil, _ initializer: ErasedInitializer, _ scope: ScopeLifetime,
    _ expiry: Duration?, in registry: InitializerRegistry, isDefault: Bool = false, at place: SourcePlace
  ) {
    (self.service, self.name, self.initializer) = (service, name, initializer)
    (self.place, self.isDefault) = (place, isDefault)
    age = Self.lastAge.add(1, ordering: .relaxed).newValue
    registryNumber = registry.number
    if let scope = initializer.factoryScope {
      (lifetime, self.expiry) = scope
      retention = .factory(lifetime.isShared ? FactoryValues() : nil)
    } else {
      // An instance exists already, so there is nothing to keep.
      (lifetime, self.expiry) = initializer.isInstance ? (.unique, nil) : (scope, expiry)
      retention =
        switch lifetime {
        case .unique: .nothing
        case .graph: .graph
        case .singleton, .weak, .cached: .shared(KeptValue(service, lifetime, expiry: expiry, by: registry.clock))
        }
    }
    if case .cached(let cache) = lifetime { cache.add(self, in: registry) }
  }

  deinit {
    if case .cached(let cache) = lifetime { cache.remove(ObjectIdentifier(self)) }
  }

  /// The services that an autowired initializer takes as parameters; empty for any other initializer.
  package var dependencies: [Service] { initializer.dependencies.map { Service($0) } }
  package var container: ClassConstraint? { initializer.container }
  package var servesSupertypes: Bool { initializer.match == .anySupertype }
  /// Whether the registration is for any container and any name.
  package var isUnlimited: Bool { container == nil && name == nil }
  var key: Key { Key(service: service, container: container, name: name, servesSupertypes: servesSupertypes) }
  package var isInstance: Bool { initializer.isInstance }
  /// Whether the registration's values are made from those of what it hides.
  package var wraps: Bool { initializer.wraps }
  package var isFactory: Bool { initializer.isFactory }
  package var isAsync: Bool { initializer.async != nil }
  /// The value that the registration keeps for all requests; nil if it keeps none.
  var kept: KeptValue? { if case .shared(let kept) = retention { kept } else { nil } }
  /// The values that the registration keeps for the arguments of its factory; nil if it keeps none.
  var factoryValues: FactoryValues? { if case .factory(let values) = retention { values } else { nil } }

  /// Whether a registry or a resolution may keep the values, and with them all that is made for them.
  var makesKept: Bool { !lifetime.isUnique }

  /// The scope in words: `singleton`, `cached in session, expiring after 5.0 seconds`.
  package var scopeName: String { "\(lifetime)" + (expiry.map { ", expiring after \($0)" } ?? "") }
  /// The registration as a step of an error's path.
  package var step: InjectionStep { InjectionStep(service, servedBy: self) }
  /// The registration in a few words: `Clock in Page named "backup"`.
  package var summary: String {
    var words = [service.name]
    if let container {
      words.append("in \(TypeName.of(container.type))\(container.subclasses ? " and its subclasses" : "")")
    }
    if let name { words.append("named \(name.source)") }
    return words.joined(separator: " ")
  }

  /// Returns whether the registration is for `service`, or has an instance that is also a value of `service`'s type.
  ///
  /// An instance counts even if it wasn't registered for its supertypes. If `service` is a declared key, only a
  /// registration for that key counts.
  package func serves(_ service: Service) -> Bool {
    if service == self.service { return true }
    guard isInstance, service.key == nil, let instance else { return false }
    return Supertypes.has(instance, service.type)
  }

  /// Returns whether the registration is for `service`, or serves supertypes and has an instance of `service`'s type.
  package func isRegistered(for service: Service) -> Bool {
    self.service == service || servesSupertypes && serves(service)
  }

  /// The name of the result type, if the registered type is a function, as in `register { Clock.init }`.
  ///
  /// This is nil for any other type, and for a registration of a declared key.
  var resultName: String? { service.key == nil ? TypeName.functionResult(of: service.type, qualified: false) : nil }

  /// Returns whether the registered type is a function that returns `type`; false for a registration of a declared key.
  package func returns(_ type: any Any.Type) -> Bool {
    service.key == nil && TypeName.functionResult(of: service.type, qualified: true) == _typeName(type, qualified: true)
  }

  /// The simplified name of the registered type, for finding registrations that are similar to a failed request.
  ///
  /// The name is made at its first use.
  var bareName: BareName {
    if let known = firstNote({ if case .bareName(let name) = $0 { name } else { nil } }) { return known }
    let made = BareName(of: service.type)
    notes.withLock { $0.append(.bareName(made)) }
    return made
  }

  func isFirstReport() -> Bool { !isReported.exchange(true, ordering: .relaxed) }

  /// Whether the values are Optionals.
  var makesOptional: Bool { ErasedType(service.type).isOptional }

  var instance: Any? {
    guard case .instance(let put) = initializer.kind else { return nil }
    return withExtendedLifetime(ValueCell(service.type, filledBy: put)) { $0.memory.any(service.type) }
  }

  /// Calls the injection hooks in a frame of their own: what they make for a kept value becomes part of that value.
  func callHooks(_ memory: ValueMemory, _ type: any Any.Type, at point: InjectionPoint, on thread: CurrentThread) {
    if !hooks.areUsed { return }
    thread.with(thread.registry, isKept: makesKept ? true : thread.innermostIsKept) {
      hooks.call(memory, type, at: point)
    }
  }

  /// The values that the registration keeps: one value, or one for each list of arguments of its factory.
  var keptValues: [KeptValue] { kept.map { [$0] } ?? factoryValues?.all ?? [] }

  func addHook(_ hook: @escaping @Sendable (Any, InjectionPoint) -> Void) { hooks.add(hook) }

  /// Adds a hook that is called with each kept value when the registry drops the value.
  func addRemoval(_ removal: @escaping @Sendable (ValueMemory) -> Void) {
    notes.withLock { $0.append(.removal(removal)) }
  }

  var hasRemovals: Bool { firstNote { if case .removal = $0 { true } else { nil } } ?? false }

  /// Calls the removal hooks for a value that the registration no longer keeps.
  func callRemovalHooks(of cell: ValueCell, in registry: InitializerRegistry) {
    let removals = notes.withLock(\.self).compactMap { if case .removal(let removal) = $0 { removal } else { nil } }
    if removals.isEmpty { return }
    let thread = CurrentThread.current
    thread.callingHooks { thread.with(registry, isKept: true) { for removal in removals { removal(cell.memory) } } }
  }

  var hasCompletions: Bool { mayHaveCompletions.load(ordering: .relaxed) }

  /// Schedules the calls of the completion hooks, which get the value in `memory` when the resolution ends.
  ///
  /// - Precondition: The caller is still in the frame or task context in which the value was made.
  func enqueueCompletions(
    of memory: ValueMemory, at point: InjectionPoint, in registry: InitializerRegistry, _ resolution: Resolution
  ) {
    let isKept = CurrentThread.current.isKept
    // The hooks get the injection point on the thread that ends the resolution. Another thread may be using the
    // container at that time, so the injection point has no container.
    let point = Unchecked(value: point.withoutContainer())
    for case .completion(let completion) in notes.withLock(\.self) {
      let call = completion(memory)
      resolution.atEnd(of: self, in: registry, isKept: isKept) {
        call(Resolver(point: point.value, registry: registry))
      }
    }
  }

  func addCompletion(_ completion: @escaping Completion) {
    notes.withLock { $0.append(.completion(completion)) }
    mayHaveCompletions.store(true, ordering: .relaxed)
  }

  private func firstNote<Fact: Sendable>(_ fact: (Note) -> Fact?) -> Fact? {
    notes.withLock { notes in
      for note in notes { if let fact = fact(note) { return fact } }
      return nil
    }
  }

  /// The place of the registration that this one replaced; nil if there was none.
  package var replaced: SourcePlace? { firstNote { if case .replaced(let place) = $0 { place } else { nil } } }

  /// The stay of the registered instance in a `ServiceBox`; nil if no box has registered it.
  var adoption: Adoption? { firstNote { if case .adoption(let adoption) = $0 { adoption } else { nil } } }

  func note(_ adoption: Adoption) { notes.withLock { $0.append(.adoption(adoption)) } }

  func note(replaced place: SourcePlace) { notes.withLock { $0.append(.replaced(place)) } }

  /// The registrations from which this registration's initializer requested values, according to a ``RequestRecorder``.
  ///
  /// Registrations that no longer exist are left out.
  package var suppliers: [RegistrationRecord] {
    notes.withLock(\.self).compactMap {
      if case .supplier(let supplier) = $0 { supplier.object as? RegistrationRecord } else { nil }
    }
  }

  /// Records, for `validate()`, that this registration's initializer requested a value from `supplier`.
  package func note(supplier: RegistrationRecord) {
    if suppliers.contains(where: { $0 === supplier }) { return }
    notes.withLock { $0.append(.supplier(WeakReference(supplier))) }
  }
}
