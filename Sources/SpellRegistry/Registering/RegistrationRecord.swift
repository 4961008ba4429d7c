package import Support
internal import Synchronization

/// A registration, with the type of its values erased.
package final class RegistrationRecord: Sendable {
  /// The requests that a registration is for; a registration replaces an older one with the same key.
  struct Key: Hashable, Sendable {
    let service: Service
    var container: ClassConstraint?
    var name: PropertyName?
    var servesSupertypes = false
    var arguments: ErasedType?

    /// Whether the registration is for any container and any name, and takes no arguments.
    var isUnlimited: Bool { container == nil && name == nil && arguments == nil }
  }

  let key: Key
  let making: Making
  package let place: SourcePlace
  package let lifetime: ScopeLifetime
  package let expiry: Duration?
  /// Whether this is a declared key's default, which is used only if no other registration serves the request.
  package let isDefault: Bool
  /// The registration's number in the process; a newer registration has a larger one.
  package let age: UInt64
  /// The value that the registration keeps for all requests; nil if its scope keeps none or it takes arguments.
  let kept: KeptValue?
  /// The values that the registration keeps for different arguments, if it takes arguments and its scope keeps values.
  let variants: KeptVariants?
  let hooks = Hooks()
  package let isInstance: Bool
  /// The way in which the scope keeps values: not at all, for one resolution, or for all requests.
  let keeping: Keeping
  enum Keeping { case nothing, graph, shared }

  typealias Completion = @Sendable (ValueMemory, InjectionPoint, InitializerRegistry) -> @Sendable () -> Void
  private let completions = Lock<[Completion]>([])
  /// Relaxed: a thread that has synchronized with the thread that added a completion sees the flag set.
  private let mayHaveCompletions = Atomic(false)
  private let isReported = Atomic(false)
  package let observed = Lock(Observed())
  /// Facts that only a check of the registry needs.
  package struct Observed: Sendable {
    /// The place of the registration that this one replaced.
    package var replaced: SourcePlace?
    /// The registrations that served this initializer's requests while requests were recorded.
    package var suppliers: [WeakReference] = []
  }
  /// Relaxed: the flag is never cleared, and a thread that doesn't see it set only asks the runtime once more.
  private let isKnownToMakeNoOptional = Atomic(false)
  private static let lastAge = Atomic<UInt64>(0)

  init(
    _ key: Key, _ making: Making, _ scope: ScopeLifetime, _ expiry: Duration?, in registry: InitializerRegistry,
    isDefault: Bool = false, at place: SourcePlace
  ) {
    (self.key, self.making, self.place, self.isDefault) = (key, making, place, isDefault)
    (isInstance, lifetime, self.expiry) = (making.isInstance, scope, expiry)
    keeping = scope.isShared ? .shared : scope.isGraph ? .graph : .nothing
    age = Self.lastAge.add(1, ordering: .relaxed).newValue
    let takesArguments = key.arguments != nil
    kept = scope.isShared && !takesArguments ? KeptValue(key.service, scope, expiry: expiry, by: registry.clock) : nil
    variants = scope.isShared && takesArguments ? KeptVariants() : nil
    if case .cached(let cache) = scope { cache.add(self, in: registry) }
  }

  deinit {
    if case .cached(let cache) = lifetime { cache.remove(ObjectIdentifier(self)) }
  }

  /// The services that an autowired initializer takes, known before it runs.
  package var dependencies: [Service] { making.dependencies.map { Service($0) } }
  package var service: Service { key.service }
  package var container: ClassConstraint? { key.container }
  package var name: PropertyName? { key.name }
  package var servesSupertypes: Bool { key.servesSupertypes }
  package var arguments: ObjectIdentifier? { key.arguments?.id }
  package var hasArguments: Bool { arguments != nil }
  package var isUnlimited: Bool { key.isUnlimited }
  package var isAsync: Bool { making.async != nil }

  /// The scope in words: `singleton`, `cached in session, expiring after 5.0 seconds`.
  package var scopeName: String { "\(lifetime)" + (expiry.map { ", expiring after \($0)" } ?? "") }
  /// The registration as a step of an error's path.
  package var step: InjectionStep { InjectionStep(service, registration: place) }
  /// The registration in a few words: `Clock in Page named "backup"`.
  package var summary: String {
    var words = [service.name]
    if let container {
      words.append("in \(TypeName.of(container.type))\(container.subclasses ? " and its subclasses" : "")")
    }
    if let name { words.append("named \(name.source)") }
    if let types = (key.arguments?.type as? any Arguments.Type)?.types {
      words.append("with arguments \(types.map { TypeName.of($0) }.joined(separator: ", "))")
    }
    return words.joined(separator: " ")
  }

  /// Returns whether the registration is for this service, or has an instance with the service's type as a supertype.
  package func serves(_ service: Service) -> Bool {
    if service == self.service { return true }
    guard isInstance, service.key == nil, let instance else { return false }
    return Supertypes.has(instance, service.type)
  }

  private let madeBareName = Lock<BareName?>(nil)
  /// The name of the type for the search of near matches, made when a request first misses.
  var bareName: BareName {
    if let known = madeBareName.withLock(\.self) { return known }
    let made = BareName(of: service.type)
    madeBareName.withLock { $0 = made }
    return made
  }

  func isFirstReport() -> Bool { !isReported.exchange(true, ordering: .relaxed) }

  /// Whether the values are Optionals; the answer no is cached, because asking the runtime is slow.
  var makesOptional: Bool {
    if isKnownToMakeNoOptional.load(ordering: .relaxed) { return false }
    let isOptional = service.type is any OptionalValue.Type
    if !isOptional { isKnownToMakeNoOptional.store(true, ordering: .relaxed) }
    return isOptional
  }

  var instance: Any? {
    guard isInstance else { return nil }
    let cell = ValueCell(service.type)
    guard (try? making.initializer(cell.memory, Request(service, named: nil), .shared, nil)) != nil else { return nil }
    cell.gate.settle(as: CreationGate.ready)
    return cell.memory.any(service.type)
  }

  /// Drops the kept values permanently.
  func retire() {
    kept?.retire()
    variants?.removeAll()
  }

  var hasCompletions: Bool { mayHaveCompletions.load(ordering: .relaxed) }

  /// Schedules the completions for a new value, which run when the resolution ends.
  func enqueueCompletions(
    of memory: ValueMemory, at point: InjectionPoint, in registry: InitializerRegistry, isKept: Bool,
    _ resolution: Resolution
  ) {
    for completion in completions.withLock(\.self) {
      resolution.atEnd(of: self, in: registry, isKept: isKept, completion(memory, point, registry))
    }
  }

  func addCompletion(_ completion: @escaping Completion) {
    completions.withLock { $0.append(completion) }
    mayHaveCompletions.store(true, ordering: .relaxed)
  }
}
