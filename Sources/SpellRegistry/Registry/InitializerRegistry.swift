internal import Locking
internal import Synchronization

/// Who makes what for whom: initializers, keyed by property type, container type and property name.
///
/// ```swift
/// let registry = InitializerRegistry.current
/// registry.register(Clock.self, scope: .singleton) { Clock() }
/// registry.register(Network.self, autowire: Network.init)            // Network.init(clock: Clock)
/// registry.register(Network.self, in: Page.self) { page in Network(clock: page.clock) }
/// let network = try registry.resolve(Network.self)
/// ```
///
/// The most specific registration wins: first by container (exactly it, a superclass registered with its subclasses,
/// any), then by name (equal, contained, any), then by kind (exactly the type, an instance that serves supertypes),
/// then the newest. One with the same key replaces the older.
///
/// An object that an initializer makes asks, for its own `@Injected` properties, the registry that is *current* then,
/// which is not changed by resolving: with a registry other than the shared one, resolve inside ``run(_:)``.
///
/// Safe to use from any thread, registration and resolution mixed. Initializers and hooks run with no lock held.
public final class InitializerRegistry: Sendable {
  /// The registry of the whole process, current wherever none has been set.
  public static let shared = InitializerRegistry()

  @TaskLocal private static var taskOverride: InitializerRegistry?

  /// Whether any registry has ever been made current: until then nobody need look into the task's locals.
  ///
  /// Relaxed: who runs inside ``run(_:)``, or in a task begun there, comes after the store in program order or by what
  /// began the task.
  private static let isOverridden = Atomic(false)

  /// The registry of the running task, where one was set.
  @usableFromInline static var override: InitializerRegistry? {
    isOverridden.load(ordering: .relaxed) ? taskOverride : nil
  }

  /// The registry of the running task, set by ``run(_:)``; else ``shared``.
  ///
  /// Costs a look into the task's locals, once any registry has been made current.
  public static var current: InitializerRegistry { override ?? shared }

  /// Where this one looks for what it does not have.
  public let parent: InitializerRegistry?

  let index: RegistrationIndex
  let table: Lock<RegistrationTable>
  let hooks = Hooks()
  let generations: Generations
  /// What the values of expiring scopes that are registered here grow old by.
  let clock: ElapsedClock

  /// An empty registry.
  ///
  /// - Parameters:
  ///   - parent: Where to look for what is not registered here. An answer found here comes first, however specific the
  ///     parent's is.
  ///   - clock: What the values that are registered here expire by, such as a test's. Where left out it is the
  ///     parent's, and without a parent a `ContinuousClock`.
  public init(parent: InitializerRegistry? = nil, clock: (any Clock<Duration>)? = nil) {
    self.parent = parent
    self.clock = clock.map { ElapsedClock($0) } ?? parent?.clock ?? .continuous
    let index = RegistrationIndex()
    self.index = index
    table = Lock(RegistrationTable(index))
    generations = parent?.generations ?? Generations()
  }

  /// Makes this the current registry while `body` runs, for it and the tasks that it starts.
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    Self.isOverridden.store(true, ordering: .relaxed)
    return try Self.$taskOverride.withValue(self, operation: body)
  }

  /// Makes this the current registry while `body` runs, for it and the tasks that it starts.
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    Self.isOverridden.store(true, ordering: .relaxed)
    return try await Self.$taskOverride.withValue(self, operation: body, isolation: isolation)
  }

  /// Withdraws every registration and drops what they cached; properties that got their value keep it.
  ///
  /// The parent, and hooks for the whole registry, stay.
  public func removeAll() {
    drop(table.withLock { $0.removeAll() })
  }

  /// Calls `hook` after each injection of any value through this registry: after the registration's hooks, the
  /// property's and the container's observer.
  ///
  /// For recording and diagnosis. Hooks stay for as long as the registry does; they run on the thread that asked, with
  /// no lock held. They don't hear of what they inject themselves, so they may resolve a logger here.
  public func onInjection(_ hook: @escaping @Sendable (Any, InjectionPoint) -> Void) { hooks.add(hook) }

  func insert(_ entry: any AnyRegistrationEntry) {
    let replaced = table.withLock { $0.insert(entry) }
    if let replaced { drop([replaced]) }
  }

  func remove(_ entry: any AnyRegistrationEntry) {
    if table.withLock({ $0.remove(entry) }) { drop([entry]) }
  }

  /// Lets go of entries that are in the table no more.
  private func drop(_ entries: [any AnyRegistrationEntry]) {
    for entry in entries { entry.shared.retire() }
    // Somebody may have just found one and not retained it yet.
    withExtendedLifetime(entries) { CreationThread.awaitReaders() }
  }

  /// Every registration here, in order.
  var entries: [any AnyRegistrationEntry] { table.withLock(\.all) }

  /// This registry, its parent, its parent's parent.
  var lineage: some Sequence<InitializerRegistry> { sequence(first: self, next: \.parent) }
}
