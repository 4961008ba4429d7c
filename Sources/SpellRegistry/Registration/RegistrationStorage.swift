internal import Support
internal import Synchronization

/// One registration, of values of any type.
///
/// `@unchecked Sendable`: every stored property is a constant of a `Sendable` type but for `former`, which the readers' lock of
/// the table guards.
@usableFromInline package final class RegistrationStorage: @unchecked Sendable {
  // First what each request looks at: together, it is in few of the processor's cache lines (benchmark: "resolve any type
  // among 10,000 registrations").

  /// Whether it is a declared key's own, which comes after all that is registered.
  package let isDefault: Bool
  /// Whether it keeps no value, and makes each by an initializer that takes nothing but a resolver.
  private let isPlain: Bool
  private let hasAdditions = Atomic(false)
  /// What it serves, as the key below says.
  package let service: Service
  let making: Making
  let hooks = Hooks()
  /// What the registration keeps for every asker, if its scope says so.
  let kept: KeptValue
  package let key: RegistrationKey
  package let place: SourcePlace
  /// Counts up with each registration in the process: the larger, the newer.
  package let age: UInt64
  /// The registration that this one stands in for and that comes back when this one is withdrawn.
  var former: RegistrationStorage?
  /// What follows the initializer.
  private let additions = Lock(Additions())

  private static let lastAge = Atomic<UInt64>(0)

  init(
    key: consuming RegistrationKey, isDefault: Bool = false, lifetime: ScopeLifetime, expiry: Duration?,
    clock: @autoclosure () -> ElapsedClock, place: SourcePlace, _ making: consuming Making
  ) {
    isPlain = lifetime.isUnique && making.isPlain
    self.making = making
    service = key.service
    self.key = key
    self.isDefault = isDefault
    self.place = place
    kept = KeptValue(lifetime: lifetime, expiry: expiry, clock: clock())
    age = Self.lastAge.add(1, ordering: .relaxed).newValue
    if case .cached(let cache) = lifetime { cache.add(self) }
  }

  deinit {
    if case .cached(let cache) = lifetime { cache.remove(ObjectIdentifier(self)) }
  }

  package var type: any Any.Type { service.type }
  /// The registration as a step of an error's path.
  package var step: InjectionStep { InjectionStep(service, registration: place) }
  package var lifetime: ScopeLifetime { kept.lifetime }
  /// The scope as a person would say it: `singleton`, `cached in session, expiring after 5.0 seconds`.
  package var scopeName: String { lifetime.description + (kept.expiry.map { ", expiring after \($0)" } ?? "") }

  /// What the initializer has asked for so far.
  let observed = ObservedServices()

  /// Whether the value's type is an Optional; kept once known, since the runtime takes its time to say so.
  ///
  /// Relaxed: it is set for good, and a thread that doesn't see it asks once more.
  var makesOptional: Bool {
    if isKnownToMakeNoOptional.load(ordering: .relaxed) { return false }
    let isOptional = type is any OptionalValue.Type
    if !isOptional { isKnownToMakeNoOptional.store(true, ordering: .relaxed) }
    return isOptional
  }
  private let isKnownToMakeNoOptional = Atomic(false)

  private struct Additions: Sendable {
    var decorators: [@Sendable (Any, Resolver) throws -> Any] = []
    var completions: [@Sendable (Any, InjectionPoint) -> Void] = []
  }

  /// Whether anything follows the initializer; if not, a new value is handed on as it is.
  ///
  /// Relaxed: a thread that has synchronized with the one that added something sees it.
  var hasWorkToDoAfterInitializer: Bool { hasAdditions.load(ordering: .relaxed) }

  private func add(_ addition: (inout Additions) -> Void) {
    additions.withLock { addition(&$0) }
    hasAdditions.store(true, ordering: .relaxed)
  }

  /// Whether it makes exactly this service, or is an instance that has its type for a supertype.
  package func serves(_ service: Service) -> Bool {
    func isInstance<Supertype>(of _: Supertype.Type) -> Bool { instance(as: Supertype.self) != nil }
    return service == self.service || (service.key == nil && isInstance(of: service.type))
  }

  /// Whether a request may take the instance, or run the initializer, at once: nothing follows it.
  var makesAtOnce: Bool { isPlain && !hasWorkToDoAfterInitializer }

  /// Whether it gives an instance that was there before.
  package var isInstance: Bool { making.isInstance }
  /// What an autowired initializer takes, known before it runs.
  package var dependencies: [Service] { making.dependencies.map { Service($0) } }

  /// The values that it keeps for arguments, if it takes any.
  private var variants: ArgumentVariants? {
    if case .withArguments(_, let variants) = making.kind { variants } else { nil }
  }

  /// Lets go of what the registration keeps, for good.
  func retire() {
    kept.retire()
    variants?.retire()
  }

  /// A value that the initializer has made, after all decorators.
  func decorated<Value>(_ value: Value, _ resolver: Resolver) throws -> Value {
    try additions.withLock(\.decorators).reduce(value) { try Self.typed($1($0, resolver)) }
  }

  /// Leaves a new value for the completions, which run when the thread's resolution has ended.
  func completeLater<Value>(_ value: Value, on thread: CurrentThread, at point: InjectionPoint) {
    let completions = additions.withLock(\.completions)
    if completions.isEmpty { return }
    thread.fields.completions.append(
      InitializerRegistry.keepingCurrent { for complete in completions { complete(value, point) } })
  }

  /// Calls the completions for a new value that was awaited.
  func complete(_ value: Any, at point: InjectionPoint) {
    if hasWorkToDoAfterInitializer { for complete in additions.withLock(\.completions) { complete(value, point) } }
  }

  func addCompletion<Value>(_ completion: @escaping @Sendable (Value, InjectionPoint) -> Void) {
    add { $0.completions.append { value, point in completion(Self.typed(value), point) } }
  }

  /// Adds a decorator, and forgets what is kept so that it's made again.
  func decorate<Value>(_ decorator: @escaping @Sendable (Value, Resolver) throws -> Value) {
    if isInstance {
      trap("An instance can't be decorated: it was made before. Decorate it, then register the result.", at: place)
    }
    add { $0.decorators.append { value, resolver in try decorator(Self.typed(value), resolver) } }
    kept.reset()
    variants?.retire()
  }

  /// Lets what was added to another registration follow this one's initializer.
  ///
  /// Refers to it weakly, since it keeps this one.
  func followAdditions(of other: RegistrationStorage) {
    add { additions in
      additions.decorators.append { [weak other] value, resolver in try other?.decorated(value, resolver) ?? value }
      additions.completions.append { [weak other] value, point in other?.complete(value, at: point) }
    }
  }

  private static func typed<Value>(_ value: Any) -> Value {
    guard let value = value as? Value else { trap("A decorated \(Value.self) has another type; please report this.") }
    return value
  }
}

/// What a registration is for; a registration with the same key replaces the older one.
package struct RegistrationKey: Hashable, Sendable {
  let service: Service
  package var container: ClassConstraint?
  package var name: PropertyName?
  package var servesSupertypes = false
  var arguments: ObjectIdentifier?

  /// Whether it is for any container and any name, and takes no arguments.
  var isUnlimited: Bool { container == nil && name == nil && arguments == nil }
}

/// The class of containers that a registration is for.
package struct ClassConstraint: Hashable, Sendable {
  package let type: any AnyObject.Type
  package let subclasses: Bool
  private let isSuperclass: @Sendable (any AnyObject.Type) -> Bool

  init<Container: AnyObject>(_ type: Container.Type, subclasses: Bool) {
    self.type = type
    self.subclasses = subclasses
    isSuperclass = { $0 is Container.Type }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.type == right.type && left.subclasses == right.subclasses
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
    hasher.combine(subclasses)
  }

  /// Whether a container of this class is meant.
  package func includes(_ container: any AnyObject.Type) -> Bool {
    subclasses ? isSuperclass(container) : type == container
  }
}

/// How closely a registration fits a request: the container counts first, then the name, the kind, and age.
struct RegistrationRank {
  private let container: ClassConstraint?
  /// 0 for exactly the container's class, 1 for a superclass, 2 for any container.
  private let distance: Int
  private let name: Int
  private let kind: Int
  private let age: UInt64

  /// Nil if the registration is for other properties.
  init?(of registration: RegistrationStorage, in containerType: (any AnyObject.Type)?, named requested: String?) {
    let key = registration.key
    if let constraint = key.container, !(containerType.map(constraint.includes) ?? false) { return nil }
    guard let name = key.name.map({ $0.rank(for: requested) }) ?? 2 else { return nil }
    container = key.container
    distance = key.container.map { $0.subclasses ? 1 : 0 } ?? 2
    self.name = name
    kind = key.servesSupertypes ? 1 : 0
    age = registration.age
  }

  func wins(over other: RegistrationRank) -> Bool {
    let areSuperclasses = distance == 1 && other.distance == 1
    if areSuperclasses, let mine = container, let others = other.container, mine.type != others.type {
      return others.includes(mine.type)
    }
    return (distance, name, kind, other.age) < (other.distance, other.name, other.kind, age)
  }
}

extension [RegistrationStorage] {
  /// The most specific of these for a request that `fits` is true of; it is asked only of one that is more specific than
  /// those before.
  @inline(__always) func winner(
    in containerType: (any AnyObject.Type)? = nil, named name: String?,
    where fits: (RegistrationStorage) -> Bool = { _ in true }
  ) -> RegistrationStorage? {
    var best: (registration: RegistrationStorage, rank: RegistrationRank)?
    for candidate in self {
      guard let rank = RegistrationRank(of: candidate, in: containerType, named: name) else { continue }
      if let best, !rank.wins(over: best.rank) { continue }
      if fits(candidate) { best = (candidate, rank) }
    }
    return best?.registration
  }
}
