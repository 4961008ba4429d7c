package import Support
internal import Synchronization

/// A registry of the closures that create values, by property type, container type and property name.
///
/// ```swift
/// let registry = InitializerRegistry.current
/// registry.register(Clock.self, scope: .singleton) { Clock() }
/// registry.register(Network.self, autowire: Network.init(clock:))
/// registry.register(Network.self, in: Page.self) { page in
///   Network(clock: page.clock)
/// }
/// let network = try registry.resolve(Network.self)
/// ```
///
/// The most specific registration wins: first by container (exactly it, a superclass registered with its subclasses,
/// any), then by name (equal, contained, any), then by kind (exactly the type, an instance that serves supertypes),
/// then the newest. One with the same key replaces the older.
///
/// **A registry owns what it makes.** While an initializer runs, a registry is current, and the `@Injected` properties of
/// the objects that it makes ask that one. For a value that is kept (`.singleton`, `.cached(in:)`, `.weak`) it is the
/// registry that has the registration, so that what a child overrides never ends up in what others share. For any other
/// value it is the registry that was asked.
///
/// Safe to use from any thread, registration and resolution mixed. Initializers and hooks run with no lock held.
public final class InitializerRegistry: Sendable {
  /// The registry of the whole process, which is current if no other is.
  public static let shared = InitializerRegistry(context: .ofProcess)

  /// The registry that is current instead of the shared one, and how what is made now refers to it.
  ///
  /// One object, as a look into the task's locals retains what it finds.
  fileprivate final class Override: Sendable {
    let registry: InitializerRegistry
    private let isMadeWeak: Bool
    private let madeReference = AtomicReference<RegistryReference>()

    init(registry: InitializerRegistry, isWeak: Bool) {
      self.registry = registry
      isMadeWeak = isWeak
    }

    /// Made when something refers to the registry: most initializers make nothing that does.
    var reference: RegistryReference {
      madeReference.object { RegistryReference(to: registry, isWeak: isMadeWeak) }
    }

    var isWeak: Bool { madeReference.object?.isWeak ?? isMadeWeak }
  }

  @TaskLocal private static var taskOverride: Override?

  /// Whether any registry has ever been made current; if not, the task's locals need no look.
  ///
  /// Relaxed: what runs inside ``run(_:)``, or in a task begun there, comes after the store in program order or by what
  /// began the task.
  private static let isOverridden = Atomic(false)

  fileprivate static var override: Override? { isOverridden.load(ordering: .relaxed) ? taskOverride : nil }

  /// The registry of the running task, set by ``run(_:)``; else ``shared``.
  ///
  /// Costs a look into the task's locals (about 13 ns), once any registry has been made current.
  public static var current: InitializerRegistry { override?.registry ?? shared }

  /// The registry that ``run(_:)`` or an initializer has made current; nil if none has.
  package static var requested: InitializerRegistry? { override?.registry }

  /// The registry that is asked for what isn't registered here.
  public let parent: InitializerRegistry?

  let table = RegistrationTable()
  let hooks = Hooks()
  let epochs: ReinjectionEpochs
  /// What was re-injected here, if anything was.
  let reinjections = AtomicReference<Reinjections>()
  /// What the values of expiring scopes that are registered here grow old by.
  let clock: ElapsedClock

  /// What the values are for, which chooses among the initializers of declared keys.
  ///
  /// The shared registry's is that of the process: `.test` under a test runner, `.preview` if Xcode shows previews,
  /// else `.live`.
  public let context: InjectionContext
  /// Who hears of problems that a test should hear of.
  package let reporter = Lock(RegistryReporter())

  /// Creates an empty registry.
  ///
  /// - Parameters:
  ///   - parent: The registry to ask for what isn't registered here. A registration here wins over any of the parent's,
  ///     however specific that is.
  ///   - context: What the values are for. The default is the parent's and, without a parent, `.live`.
  ///   - clock: The clock by which the values that are registered here expire, such as a test's. The default is the
  ///     parent's and, without a parent, a `ContinuousClock`.
  public init(
    parent: InitializerRegistry? = nil, context: InjectionContext? = nil, clock: (any Clock<Duration>)? = nil
  ) {
    self.parent = parent
    self.context = context ?? parent?.context ?? .live
    self.clock = clock.map { ElapsedClock($0) } ?? parent?.clock ?? .continuous
    epochs = parent?.epochs ?? ReinjectionEpochs()
  }

  /// Creates a registry whose parent is this one, such as one for a request of a server.
  ///
  /// ```swift
  /// let child = registry.child { $0.register(instance: request) }
  /// try await child.run { try await handle(request) }
  /// ```
  ///
  /// - Parameters:
  ///   - context: What the values are for; this registry's context if it is left out.
  ///   - configure: Registers what the child has of its own.
  /// - Returns: The child, which keeps this registry.
  /// - Throws: What `configure` throws.
  public func child<Failure: Error>(
    context: InjectionContext? = nil, _ configure: (InitializerRegistry) throws(Failure) -> Void
  ) throws(Failure) -> InitializerRegistry {
    let child = InitializerRegistry(parent: self, context: context)
    try configure(child)
    return child
  }

  /// Makes this the current registry while `body` runs, for it and the tasks that it starts.
  ///
  /// An object made in `body` keeps this registry alive, since it may ask it later. Two kinds of objects don't: those that
  /// the registry makes for its singletons, and those made in a `body` that calls `register(instance:)` with an object. Hold
  /// the registry for as long as you use them.
  ///
  /// Register an object that has injected properties in the `run` that made it. Registered elsewhere, it and the registry
  /// keep each other.
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Self.$taskOverride.withValue(override(isWeak: false), operation: body)
  }

  /// Makes this the current registry while `body` runs, for it and the tasks that it starts.
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.$taskOverride.withValue(override(isWeak: false), operation: body, isolation: isolation)
  }

  /// Withdraws every registration and drops what they cached; properties that got their value keep it.
  ///
  /// The parent, and hooks for the whole registry, stay.
  public func removeAll() {
    drop(ThreadState.write { table.removeAll() })
  }

  /// Calls `hook` after each injection of any value through this registry: after the registration's hooks, the
  /// property's and the container's observer.
  ///
  /// For recording and diagnosis. Hooks stay for as long as the registry does; they run on the thread that asked, with
  /// no lock held. They don't hear of what they inject themselves, so they may resolve a logger here; the others do, unless
  /// two of them are running.
  public func onInjection(_ hook: @escaping @Sendable (Any, InjectionPoint) -> Void) { hooks.add(hook) }

  /// Every registration here, in order.
  package var registrations: [RegistrationStorage] { ThreadState.current.read { table.all }.filter { !$0.isDefault } }

  /// This registry, its parent, its parent's parent.
  package var lineage: some Sequence<InitializerRegistry> { sequence(first: self, next: \.parent) }

  /// Whether a registration here or in a parent is for one class of containers.
  var hasClassConstraints: Bool { table.hasClassConstraints || parent?.hasClassConstraints ?? false }

  private func override(isWeak: Bool) -> Override? {
    Self.isOverridden.store(true, ordering: .relaxed)
    // What the shared registry makes asks the shared registry, with nothing to refer to.
    return self === Self.shared ? nil : Override(registry: self, isWeak: isWeak)
  }

  /// Returns `body` as it runs with what is current now.
  static func keepingCurrent(_ body: @escaping () -> Void) -> () -> Void {
    let current = override
    return { override === current ? body() : $taskOverride.withValue(current, operation: body) }
  }

  /// Whether this registry is current, in the way that an initializer of it needs.
  private func isCurrent(keepsValue: Bool) -> Bool {
    guard let override = Self.override else { return self === Self.shared }
    return override.registry === self && (!keepsValue || override.isWeak)
  }

  /// Runs an initializer with this registry as the current one.
  ///
  /// - Parameter keepsValue: Whether the registry keeps the value, so that the value must not keep the registry.
  @inline(__always) func runInitializer<Result>(keepsValue: Bool, _ body: () throws -> Result) rethrows -> Result {
    if isCurrent(keepsValue: keepsValue) { return try body() }
    return try Self.$taskOverride.withValue(override(isWeak: keepsValue), operation: body)
  }

  func runInitializer<Result>(
    keepsValue: Bool, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    if isCurrent(keepsValue: keepsValue) { return try await body() }
    return try await Self.$taskOverride.withValue(
      override(isWeak: keepsValue), operation: body, isolation: isolation)
  }

  /// Lets what was made in the running ``run(_:)`` no longer keep this registry, which now keeps an object that may have
  /// been made there.
  @usableFromInline func loosenCurrentReference() {
    guard let override = Self.override, override.registry.lineage.contains(where: { $0 === self }) else { return }
    override.reference.weaken()
  }

  func insert(_ registration: RegistrationStorage) {
    if let replaced = ThreadState.write({ table.insert(registration) }) { drop([replaced]) }
  }

  /// Puts a registration in place of the one with its key, which comes back when the new one is withdrawn.
  func substitute(_ registration: RegistrationStorage) {
    ThreadState.write {
      registration.former = table[registration.key]
      _ = table.insert(registration)
    }
  }

  func remove(_ registration: RegistrationStorage) {
    if ThreadState.write({ table.remove(registration) }) { drop([registration]) }
  }

  /// Drops what registrations keep that are no longer in the table, with no lock held.
  private func drop(_ registrations: [RegistrationStorage]) {
    for registration in registrations {
      for registration in sequence(first: registration, next: \.former) { registration.retire() }
    }
  }
}

/// What a program runs for, which chooses among the initializers that a declared key has.
///
/// A registry has a context of its own: ``InitializerRegistry/context``.
public enum InjectionContext: Sendable, Hashable, CaseIterable {
  /// The program itself.
  case live
  /// A test. A key's `test` initializer is used if it has one.
  case test
  /// A preview of a view in Xcode. A key's `preview` initializer is used if it has one.
  case preview

  /// The context of this process: a preview if Xcode says so in the environment, a test if a test runner started it.
  ///
  /// Looked for once.
  fileprivate static let ofProcess: InjectionContext = isPreviewProcess ? .preview : isTestProcess ? .test : .live
}

/// How the properties of an object refer to the registry that was current when the object was made.
///
/// An object that a registry keeps must not keep the registry, or neither would ever go: what is made for a registry's
/// singletons refers to it weakly. All other objects keep their registry alive.
@usableFromInline final class RegistryReference: Sendable {
  /// Guarded by the readers' lock, like what a table has.
  private let strong: AtomicReference<InitializerRegistry>
  private let weak = AtomicReference<Box<WeakReference>>()
  /// The epochs that properties compare theirs with at each read; they outlive the registry with this.
  let epochs: ReinjectionEpochs

  init(to registry: InitializerRegistry, isWeak: Bool) {
    strong = AtomicReference(isWeak ? nil : registry)
    epochs = registry.epochs
    if isWeak { _ = weak.object { Box(WeakReference(registry)) } }
  }

  /// The registry, if it is still there.
  var registry: InitializerRegistry? {
    ThreadState.current.read { strong.object }
      ?? weak.object?.content.object as? InitializerRegistry
  }

  /// Whether the registry may go before what was made refers to it.
  ///
  /// Relaxed: what was made before the registry was asked to keep it refers to it in either way.
  var isWeak: Bool { strong.isEmpty }

  /// Lets go of the registry, which the caller holds.
  fileprivate func weaken() {
    guard let registry else { return }
    _ = weak.object { Box(WeakReference(registry)) }
    // Released with no lock held.
    let released = ThreadState.write { strong.exchange(nil) }
    withExtendedLifetime(released) {}
  }

  /// The reference for what is made now; nil if the shared registry is current.
  @usableFromInline static var current: RegistryReference? { InitializerRegistry.override?.reference }

  /// The epoch that current values of properties have.
  @usableFromInline static func epoch(of reference: RegistryReference?) -> AtomicWords {
    // Apart, since one of the two as a value would be retained.
    if let reference { return reference.epochs.current }
    return InitializerRegistry.shared.epochs.current
  }
}

/// Who hears of what a test should know of a registry; a test's trait sets it.
package struct RegistryReporter: Sendable {
  /// Called when a key that has no initializer for the registry's context is asked for and nothing is registered for it.
  package var onLiveInitializer: (@Sendable (String) -> Void)?
  /// Called before a property that can't be injected stops the program.
  package var onFailure: (@Sendable (String) -> Void)?
}

extension InitializerRegistry {
  /// Reports that a key has no initializer of its own for this registry's context.
  func reportMissingInitializer(of key: InjectionKeys, at point: InjectionPoint) {
    guard let report = lineage.lazy.compactMap({ $0.reporter.withLock(\.onLiveInitializer) }).first else { return }
    let step = point.step(point.propertyType)
    let asker = step.property.map { " for \($0)" } ?? ""
    report(
      """
      The key of type \(step.typeName) that is declared at \(key.place) has no initializer for context .\(context), so the \
      live one makes its value\(asker). Add `.\(context) { … }` to the key's declaration, or register an initializer: \
      registry.register(.key) { … }.
      """)
  }

  /// Reports a message before it stops the program.
  func reportFailure(_ message: String) {
    lineage.lazy.compactMap({ $0.reporter.withLock(\.onFailure) }).first?(message)
  }
}
