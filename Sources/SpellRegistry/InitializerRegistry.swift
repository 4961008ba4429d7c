package import Support
internal import Synchronization

/// A registry of closures that create values, looked up by property type, container type and property name.
///
/// ```swift
/// let registry = InitializerRegistry.current
/// registry.register(Clock.self, scope: .singleton) { Clock() }
/// registry.register(.autowire(Network.init(clock:)))
/// registry.register(.in(Page.self) { page in Network(clock: page.clock) })
/// let network = try registry.resolve(Network.self)
/// ```
///
/// The most specific registration wins: by container (exactly the class, a superclass registered with its subclasses,
/// any), then by name (equal, contained, any), then by kind (exactly the type, an instance that serves supertypes). In
/// a tie the newest wins. A registration replaces an older one for exactly the same requests.
///
/// **A registry owns what it makes.** While an initializer runs, a registry is current, and the `@Injected` properties
/// of new objects ask that registry. For a kept value (`.singleton`, `.cached(in:)`, `.weak`), the registry
/// with the registration is current, so a child's overrides never end up in shared values. For any other value, the
/// requested registry is current. Objects made for a value of any scope but `.unique` don't keep their
/// registry alive; other objects do, with an exception in ``run(_:)``.
///
/// Thread-safe: any thread may register and resolve at any time. Initializers and hooks run with no lock held.
public final class InitializerRegistry: Sendable {
  /// The registry of the whole process, which is current unless another one is.
  public static let shared: InitializerRegistry = {
    let registry = InitializerRegistry(context: .ofProcess)
    registry.reporter?.watch(warnOfSharedUse)
    return registry
  }()

  /// The current registry: that of the initializer running on this thread, else that of the task, set by ``run(_:)``,
  /// else ``shared``.
  public static var current: InitializerRegistry { requested ?? shared }

  /// The registry that an initializer or ``run(_:)`` has made current; nil if there is none.
  @usableFromInline package static var requested: InitializerRegistry? {
    CurrentThread.current.registry ?? TaskContext.current?.registry
  }

  /// The number of the registry that an initializer or ``run(_:)`` has made current; 0 if there is none.
  ///
  /// Costs less than ``requested``, which retains the registry.
  @usableFromInline package static var requestedNumber: UInt64 {
    CurrentThread.current.registryNumber ?? TaskContext.current?.registryNumber ?? 0
  }

  /// The registry to ask for values that aren't registered in this one.
  public let parent: InitializerRegistry?

  /// The purpose of the values, which chooses among the initializers of declared keys.
  ///
  /// The shared registry has the context of the process: `.preview` if Xcode shows previews, `.test` under a test
  /// runner, else `.live`.
  public let context: InjectionContext

  let table = Lock(RegistrationTable())
  /// Whether any registration is, or was, for a class of containers.
  ///
  /// Relaxed: a thread that has synchronized with the registering thread sees the flag set.
  let isForContainers = Atomic(false)
  let hooks = Hooks()
  /// The clock by which the values that this registry keeps expire.
  let clock: ElapsedClock
  /// The epoch in which each type or key was last re-injected by this registry.
  let reinjections = Lock<[ObjectIdentifier: UInt]>([:])
  /// The receiver of what a test should know; nil unless the context is `.test`.
  package let reporter: RegistryReporter?
  private let madeReference = Lock<RegistryReference?>(nil)
  /// The registry's number, which isn't 0 and no other registry of the process has, before or after.
  package let number: UInt64
  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates an empty registry.
  ///
  /// - Parameters:
  ///   - parent: The registry to ask for what isn't registered in this one. A registration in this one wins over all of
  ///     the parent's, however specific they are.
  ///   - context: The purpose of the values. The default is the parent's context or, without a parent, `.live`.
  ///   - clock: The clock by which the values that the registry keeps expire, such as a test clock. The default is the
  ///     parent's clock or, without a parent, a `ContinuousClock`.
  public init(
    parent: InitializerRegistry? = nil, context: InjectionContext? = nil, clock: (any Clock<Duration>)? = nil
  ) {
    let context = context ?? parent?.context ?? .live
    // A request to a child of the shared registry isn't a direct use of the shared registry.
    let outer = parent.flatMap { $0 === InitializerRegistry.shared ? nil : $0.reporter }
    reporter = context == .test ? RegistryReporter(outer: outer) : nil
    (self.parent, self.context) = (parent, context)
    self.clock = clock.map { ElapsedClock($0) } ?? parent?.clock ?? .continuous
    number = Self.lastNumber.add(1, ordering: .relaxed).newValue
  }

  /// Creates a registry whose parent is this one, for example for a single request to a server.
  ///
  /// ```swift
  /// let child = registry.child { $0.register(.instance(request)) }
  /// try await child.run { try await handle(request) }
  /// ```
  ///
  /// - Parameters:
  ///   - context: The purpose of the values; this registry's context by default.
  ///   - configure: A closure that registers the child's own values.
  /// - Returns: The child, which keeps this registry alive.
  /// - Throws: The error that `configure` throws.
  public func child<Failure: Error>(
    context: InjectionContext? = nil, _ configure: (InitializerRegistry) throws(Failure) -> Void
  ) throws(Failure) -> InitializerRegistry {
    let child = InitializerRegistry(parent: self, context: context)
    try configure(child)
    return child
  }

  /// Makes this registry current while `body` runs, for `body` and the tasks that it starts, except detached ones.
  ///
  /// An object that `body` makes keeps this registry alive, because its properties may need the registry later. If you
  /// register that object in this registry afterward, the object and the registry keep each other alive. But if `body`
  /// itself registers anything in this registry or a parent, its objects don't keep the registry alive: hold the
  /// registry for as long as you use them.
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = CurrentThread.current
    let context = TaskContext(self)
    defer { context.end() }
    return try TaskContext.$local.withValue(context) {
      if thread.fields.frames.isEmpty { return try body() }
      // An initializer is running: a frame without a registry makes the task's registry current.
      return try thread.with(nil, linksWeakly: thread.linksWeakly, body)
    }
  }

  /// Makes this registry current while `body` runs, for `body` and the tasks that it starts, except detached ones.
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let context = TaskContext(self)
    defer { context.end() }
    return try await TaskContext.$local.withValue(context, operation: body, isolation: isolation)
  }

  /// Withdraws every registration and drops the cached values; properties that already have a value keep it.
  ///
  /// The parent's registrations and the hooks of the whole registry stay.
  public func removeAll() {
    var removed = RegistrationTable()
    table.withLock { swap(&$0, &removed) }
    for record in removed.all + removed.allDefaults { record.retire() }
  }

  /// Calls `hook` after each injection of any value through this registry, after the registration's hooks, the
  /// property's hook and the container's observer.
  ///
  /// Use it for recording and diagnosis. Hooks stay for as long as the registry exists. They run on the requesting
  /// thread, with no lock held. Values that a hook injects call no hooks of registrations or registries.
  public func onInjection(_ hook: @escaping @Sendable (Any, InjectionPoint) -> Void) { hooks.add(hook) }

  /// This registry, its parent, and so on up to the outermost registry.
  package var lineage: some Sequence<InitializerRegistry> { sequence(first: self, next: \.parent) }

  /// The registrations of this registry, in order, and then the defaults of used keys that have no registration for all
  /// properties.
  package var registrations: [RegistrationRecord] {
    table.withLock { $0.all + $0.defaultsInForce }
  }

  /// A weak reference to this registry, which its objects share.
  var weakReference: RegistryReference {
    madeReference.withLock { reference in
      if let reference { return reference }
      let made = RegistryReference(to: self, isWeak: true)
      reference = made
      return made
    }
  }

  /// Puts a registration in the table, where it replaces any registration with the same key.
  func insert(_ record: RegistrationRecord) {
    TaskContext.weakenReferences(to: self)
    if record.container != nil { isForContainers.store(true, ordering: .relaxed) }
    guard let former = table.withLock({ $0.insert(record) }) else { return }
    record.note(replaced: former.record.place)
    former.record.retire()
  }

  func remove(_ record: RegistrationRecord) {
    if let former = table.withLock({ $0.remove(record) }) { former.record.retire() }
  }
}

extension InitializerRegistry: CustomStringConvertible {
  /// A line for each registration of this registry and then of each parent: its scope, whether it keeps a value, and
  /// its place.
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

/// The closures that tell a test about its registry.
///
/// The test's trait sets them, and they outlive the registry.
package final class RegistryReporter: Sendable {
  package struct Receivers: Sendable {
    /// Called with a message and a place when a test runs a key's live initializer; nil if tests may run it.
    package var onLiveInitializer: (@Sendable (String, _ place: String) -> Void)?
    /// Called with a message and a place if a property can't be injected, before the program stops.
    package var onFailure: (@Sendable (String, _ place: String) -> Void)?
    fileprivate var onRequest: Watcher?
  }
  package typealias Watcher = @Sendable (Service, _ isFound: Bool, _ step: () -> InjectionStep) -> Void
  package let receivers = Lock(Receivers())
  private let outer: RegistryReporter?

  fileprivate init(outer: RegistryReporter?) { self.outer = outer }

  /// Calls `receive` for each request to the registry or a child, and no longer calls the former receiver.
  package func watch(_ receive: @escaping Watcher) { receivers.withLock { $0.onRequest = receive } }

  /// Makes the next read of each injected property a request, even if the property has a value.
  package func noteReads() { _ = Epoch.current.advance() }

  @inline(never) func report(_ request: borrowing Request, isFound: Bool = true) {
    receivers.withLock(\.onRequest)?(request.service, isFound) { request.step() }
    outer?.report(request, isFound: isFound)
  }
}

extension InitializerRegistry {
  func reportFailure(_ message: String, at place: SourcePlace) {
    lineage.lazy.compactMap({ $0.reporter?.receivers.withLock(\.onFailure) }).first?(message, place.description)
  }

  /// A watcher that warns on standard error, once in a process, that a test uses the shared registry.
  package static let warnOfSharedUse: RegistryReporter.Watcher = { service, isFound, step in
    guard isFound, service.key == nil || shared.isRegistered(Request(service, named: nil)),
      !isSharedUseKnown.exchange(true, ordering: .relaxed)
    else { return }
    let step = step()
    writeToStandardError(
      """
      Spellbook: a test asked the shared registry for \(step.typeName)\(step.property.map { " (\($0))" } ?? ""). Tests that \
      use it share its registrations and preferences: give each test its own registry with @Suite(.registry), from \
      SpellTesting, or with InitializerRegistry(context: .test).run { … }. This is said once.

      """)
  }
  private static let isSharedUseKnown = Atomic(false)
}
