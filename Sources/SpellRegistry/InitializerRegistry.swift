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
/// value it is the registry that was asked. What is made for a value of any scope but `.unique` doesn't keep its registry;
/// everything else does.
///
/// Safe to use from any thread, registration and resolution mixed. Initializers and hooks run with no lock held.
public final class InitializerRegistry: Sendable {
  /// The registry of the whole process, which is current if no other is.
  public static let shared: InitializerRegistry = {
    let registry = InitializerRegistry(context: .ofProcess)
    if registry.context == .test { registry.watch(warnOfSharedUse) }
    return registry
  }()

  /// The current registry: that of the initializer that runs on this thread, else the task's, which ``run(_:)`` sets,
  /// else ``shared``.
  public static var current: InitializerRegistry { requested ?? shared }

  /// The registry that an initializer or ``run(_:)`` has made current; nil if none has.
  package static var requested: InitializerRegistry? {
    CurrentThread.current.registry ?? TaskContext.current?.registry
  }

  /// The registry that is asked for what isn't registered here.
  public let parent: InitializerRegistry?

  /// The purpose of the values, which chooses among the initializers of declared keys.
  ///
  /// The shared registry's is that of the process: `.test` under a test runner, `.preview` if Xcode shows previews,
  /// else `.live`.
  public let context: InjectionContext

  let table = Lock(RegistrationTable())
  /// Whether any registration is, or was, for a class of containers.
  ///
  /// Relaxed: a thread that has synchronized with the one that registered it sees it.
  let isForContainers = Atomic(false)
  let hooks = Hooks()
  /// The clock by which the values that are registered here expire.
  let clock: ElapsedClock
  /// The epochs in which types and keys were last re-injected here.
  let reinjections = Lock<[ObjectIdentifier: UInt]>([:])
  /// The receiver of problems for a test to report.
  package let reporter = Lock(RegistryReporter())
  /// Whether requests are reported.
  let isWatched = Atomic(false)
  private let madeReference = Lock<RegistryReference?>(nil)

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
  }

  /// Creates a registry whose parent is this one, such as one for a request of a server.
  ///
  /// ```swift
  /// let child = registry.child { $0.register(instance: request) }
  /// try await child.run { try await handle(request) }
  /// ```
  ///
  /// - Parameters:
  ///   - context: What the values are for; this registry's context by default.
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
  /// An object made in `body` keeps this registry, since it may ask it later; register it here afterwards, and each keeps
  /// the other. If `body` itself registers anything here or in a parent, the objects that it makes, before and after, don't
  /// keep the registry: hold it for as long as you use them.
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = CurrentThread.current
    return try TaskContext.$local.withValue(TaskContext(self)) {
      if thread.fields.frames.isEmpty { return try body() }
      // In an initializer: a frame without a registry, so that the task's is current.
      return try thread.with(nil, isKept: thread.isMakingKept, body)
    }
  }

  /// Makes this the current registry while `body` runs, for it and the tasks that it starts.
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await TaskContext.$local.withValue(TaskContext(self), operation: body, isolation: isolation)
  }

  /// Withdraws every registration and drops what they cached; properties that got their value keep it.
  ///
  /// The parent, and hooks for the whole registry, stay.
  public func removeAll() {
    let removed = table.withLock { table in
      let removed = table.all + table.defaults.values
      table = RegistrationTable()
      return removed
    }
    for record in removed { record.retire() }
  }

  /// Calls `hook` after each injection of any value through this registry: after the registration's hooks, the
  /// property's and the container's observer.
  ///
  /// For recording and diagnosis. Hooks stay for as long as the registry does; they run on the thread that asked, with
  /// no lock held. What such a hook injects calls no hook of a registration or registry.
  public func onInjection(_ hook: @escaping @Sendable (Any, InjectionPoint) -> Void) { hooks.add(hook) }

  /// This registry, its parent, its parent's parent.
  package var lineage: some Sequence<InitializerRegistry> { sequence(first: self, next: \.parent) }

  /// The registrations here, in order, then those of declared keys for which nothing is registered and that were used.
  package var registrations: [RegistrationRecord] {
    table.withLock { $0.all + $0.defaultsInForce }
  }

  /// A reference that doesn't keep this registry.
  var weakReference: RegistryReference {
    madeReference.withLock { reference in
      if let reference { return reference }
      let made = RegistryReference(to: self, isWeak: true)
      reference = made
      return made
    }
  }

  /// Puts a registration in the table, in place of the one with its key.
  func insert(_ record: RegistrationRecord) {
    TaskContext.loosen(for: self)
    if record.container != nil { isForContainers.store(true, ordering: .relaxed) }
    guard let former = table.withLock({ $0.exchange(record.key, for: record) }) else { return }
    record.observed.withLock { $0.replaced = former.place }
    former.retire()
  }

  /// Withdraws a registration, if it is still in force.
  func remove(_ record: RegistrationRecord) {
    if table.withLock({ $0.remove(record) }) { record.retire() }
  }
}

extension InitializerRegistry: CustomStringConvertible {
  /// A line for each registration, here and then in each parent: its scope, whether a value is kept, and where it is.
  ///
  /// ```swift
  /// print(registry)
  /// // Registry for context .test, with 1 registration:
  /// //   Clock: singleton, kept, at App/Services.swift:12
  /// ```
  public var description: String {
    lineage.map { registry in
      let lines = registry.registrations.map { record in
        let isKept = !record.isInstance && record.kept?.isReady ?? false
        let scope = record.isInstance ? "instance" : record.scopeName + (isKept ? ", kept" : "")
        return "\n  \(record.summary): \(scope), at \(record.place)"
      }
      let context = registry.context == .live ? "" : " for context .\(registry.context)"
      let name = (registry === self ? "Registry" : "Parent") + context
      return "\(name), with \(lines.count) registration\(lines.count == 1 ? "" : "s")\(lines.isEmpty ? "" : ":")"
        + lines.joined()
    }.joined(separator: "\n")
  }
}

/// The receivers of what a test should know of a registry; a test's trait sets them.
package struct RegistryReporter: Sendable {
  /// Called when a key that has no initializer for the registry's context is asked for and nothing is registered for it.
  package var onLiveInitializer: (@Sendable (String) -> Void)?
  /// Called before a property that can't be injected stops the program.
  package var onFailure: (@Sendable (String) -> Void)?
  fileprivate var onRequest: (@Sendable (InjectionStep) -> Void)?
}

extension InitializerRegistry {
  /// Reports a message before it stops the program.
  func reportFailure(_ message: String) {
    lineage.lazy.compactMap({ $0.reporter.withLock(\.onFailure) }).first?(message)
  }

  /// Calls `receive` for each request of a type, in place of a former receiver.
  package func watch(_ receive: @escaping @Sendable (InjectionStep) -> Void) {
    reporter.withLock { $0.onRequest = receive }
    isWatched.store(true, ordering: .relaxed)
  }

  @inline(never) func reportRequest(_ request: borrowing Request) {
    if !request.hasKey { reporter.withLock(\.onRequest)?(request.step()) }
  }

  /// Tells a person who runs tests, once, that they share what is registered.
  package static let warnOfSharedUse: @Sendable (InjectionStep) -> Void = { step in
    guard isSharedUseKnown.exchange(true, ordering: .relaxed) == false else { return }
    writeToStandardError(
      """
      Spellbook: a test asked the shared registry for \(step.typeName)\(step.property.map { " (\($0))" } ?? ""). Tests that \
      use it share its registrations and preferences: give each test its own registry with @Suite(.registry), from \
      SpellTesting, or with InitializerRegistry(context: .test).run { … }. This is said once.

      """)
  }
  private static let isSharedUseKnown = Atomic(false)
}
