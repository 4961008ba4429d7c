internal import Locking
internal import Synchronization

/// A registration whose value's type only the runtime knows.
protocol AnyRegistrationEntry: AnyObject, Sendable {
  var key: RegistrationKey { get }
  var type: any Any.Type { get }
  /// Counts up with each registration in the process: the larger, the newer.
  var age: UInt64 { get }
  var place: SourcePlace { get }
  var lifetime: ScopeLifetime { get }
  /// When the scope's values are too old.
  var expiry: Duration? { get }
  /// What an autowired initializer takes, known before it runs.
  var dependencies: [any Any.Type] { get }
  /// What the initializer has asked for besides.
  var observedDependencies: [any Any.Type] { get }
  func observeDependency(on type: any Any.Type)
  /// Whether it makes exactly this type, or is an instance that has it for a supertype.
  func serves(_ type: any Any.Type) -> Bool
  /// The instance as one of its supertypes, for an instance that serves any.
  func instance<Supertype>(as: Supertype.Type) -> Supertype?
  /// Calls the registration's hooks, with a value that it made.
  func notify(_ value: @autoclosure () -> Any, at point: InjectionPoint)
  /// Forgets what was cached, and caches nothing more: the registration is withdrawn.
  func retire()
}

/// One registration: what it is for, what makes the value, how long that is kept, and who wants to hear of it.
final class RegistrationEntry<Value>: AnyRegistrationEntry {
  enum Initializer: Sendable {
    case plain(@Sendable (Resolver) throws -> Value)
    case withArguments(@Sendable (Resolver, Any) throws -> Value)
    case onMainActor(@MainActor (Resolver) throws -> Value)
    case async(any AsyncInitializer<Value>)
    /// Gives an instance that was there before.
    case instance(@Sendable () -> Value)
  }

  let key: RegistrationKey
  let scope: Scope<Value>
  let place: SourcePlace
  let dependencies: [any Any.Type]
  let initializer: Initializer
  let shared: SharedValue<Value>?
  let hooks = Hooks<Value>()
  private let observed = Lock<[any Any.Type]>([])
  let age = RegistrationAge.next()

  init(
    key: RegistrationKey, scope: Scope<Value>, place: SourcePlace, dependencies: [any Any.Type] = [],
    initializer: Initializer
  ) {
    self.key = key
    self.scope = scope
    self.place = place
    self.dependencies = dependencies
    self.initializer = initializer
    shared = SharedValue(for: scope)
  }

  var type: any Any.Type { Value.self }
  var lifetime: ScopeLifetime { scope.lifetime }
  var expiry: Duration? { scope.expiry }
  var observedDependencies: [any Any.Type] { observed.withLock(\.self) }

  func observeDependency(on type: any Any.Type) {
    func isSame(_ other: any Any.Type) -> Bool { other == type }
    if dependencies.contains(where: isSame) { return }
    observed.withLock { observed in
      if !observed.contains(where: isSame) { observed.append(type) }
    }
  }

  func serves(_ type: any Any.Type) -> Bool {
    func isInstance<Supertype>(of _: Supertype.Type) -> Bool { instance(as: Supertype.self) != nil }
    return ObjectIdentifier(type) == key.type || isInstance(of: type)
  }

  func instance<Supertype>(as: Supertype.Type) -> Supertype? {
    guard case .instance(let instance) = initializer else { return nil }
    return instance() as? Supertype
  }

  func notify(_ value: @autoclosure () -> Any, at point: InjectionPoint) {
    guard hooks.areUsed, let value = value() as? Value else { return }
    hooks.call(value, at: point)
  }

  func retire() { shared?.retire() }
}

private enum RegistrationAge {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

/// Hooks that are called in the order in which they were added.
final class Hooks<Value>: Sendable {
  typealias Hook = @Sendable (Value, InjectionPoint) -> Void
  private let hooks = Lock<[Hook]>([])
  private let isUsed = Atomic(false)

  /// Whether there is any; spares the lock where, as mostly, there is none.
  ///
  /// Relaxed: whoever synchronises with the one that added a hook sees it, as with any other value.
  var areUsed: Bool { isUsed.load(ordering: .relaxed) }

  func add(_ hook: @escaping Hook) {
    hooks.withLock { $0.append(hook) }
    isUsed.store(true, ordering: .relaxed)
  }

  /// Calls every hook, with no lock held; none while they run already, further out on this thread.
  ///
  /// A hook that resolves what it hears of would else call itself until the stack is full.
  func call(_ value: Value, at point: InjectionPoint) {
    let thread = CreationThread.current
    let id = ObjectIdentifier(self)
    if thread.pointee.runningHooks.contains(id) { return }
    thread.pointee.runningHooks.append(id)
    defer { thread.pointee.runningHooks.removeLast() }
    for hook in hooks.withLock({ $0 }) { hook(value, point) }
  }
}
