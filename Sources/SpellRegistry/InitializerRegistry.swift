internal import Support
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
/// Of all registrations that match a request, the registry chooses the most specific. The container decides first:
/// exactly the class, then a class with its subclasses (the nearest class first), then any container. The name decides
/// next: an equal name, then a text that the property's name contains, then any name. The kind decides last: exactly
/// the type, then an instance that serves supertypes. In a tie, the registry chooses the newest registration. A
/// registration replaces an older registration for the same service (a type or a key), class, name and kind.
///
/// **A registry owns what it makes.** While an initializer runs, one registry is current, and the `@Injected`
/// properties of new objects ask that registry. For a kept value (`.singleton`, `.cached(in:)`, `.weak`), the registry
/// that has the registration is current, so a child's overrides never end up in shared values. For any other value, the
/// registry that received the request is current. An object made for a value of any scope but `.unique`, even as a part
/// of the value, doesn't keep its registry alive. Any other object does, with an exception that ``run(_:)`` describes.
///
/// Thread-safe: any thread may register and resolve at any time. Initializers and hooks run with no lock held.
public final class InitializerRegistry: Sendable {
  /// The registry of the whole process, which is current unless an initializer or ``run(_:)`` makes another registry
  /// current.
  public static let shared: InitializerRegistry = {
    let registry = InitializerRegistry(context: .ofProcess)
    registry.reporter?.watch(warnOfSharedUse)
    return registry
  }()

  /// The current registry, from which the calling code gets its values.
  ///
  /// The innermost initializer, completion hook, `@Lazy` expression or ``run(_:)`` call around the calling code sets
  /// it. A task inherits the registry of the `run` call or async initializer in which it was started, but not that of a
  /// synchronous initializer. A detached task inherits none. Everywhere else, ``shared`` is current.
  public static var current: InitializerRegistry { requested ?? shared }

  /// The registry that the calling thread or task has made current; nil if neither has, and ``shared`` is current.
  @usableFromInline package static var requested: InitializerRegistry? {
    CurrentThread.current.registry ?? TaskContext.current?.registry
  }

  /// The number of the registry that ``requested`` returns; 0 if ``requested`` is nil.
  ///
  /// Costs less than ``requested``, which retains the registry.
  @usableFromInline package static var requestedNumber: UInt64 {
    CurrentThread.current.registryNumber ?? TaskContext.current?.registryNumber ?? 0
  }

  /// The registry that serves requests for which this registry has no registration; nil if there is no parent.
  public let parent: InitializerRegistry?

  /// The purpose of the registry's values, which selects one of a declared key's initializers.
  ///
  /// The context of the shared registry is `.preview` in an Xcode preview, `.test` under a test runner, and `.live`
  /// otherwise.
  public let context: InjectionContext

  let table = StripedLock(RegistrationTable())
  /// Whether any registration of this registry is, or ever was, limited to a class of containers.
  ///
  /// Relaxed ordering suffices: a thread that has synchronized with the registering thread sees the flag set.
  let isForContainers = Atomic(false)
  let hooks: Hooks
  /// The clock that determines when the values that this registry keeps expire.
  let clock: ElapsedClock
  /// For each type or key, the ``Epoch`` number of the last ``reinject(_:)`` call on this registry.
  let reinjections: Lock<[ObjectIdentifier: UInt]>
  /// The object that informs a test about this registry's requests and faults; nil unless the context is `.test`.
  package let reporter: RegistryReporter?
  /// The weak reference to this registry that objects share; nil until an object needs it.
  let madeReference: Lock<RegistryReference?>
  /// The number that identifies the registry, never 0 and never reused in the process.
  ///
  /// The registry that takes the place of one that ends has the number of that one.
  package let number: UInt64
  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates an empty registry.
  ///
  /// - Parameters:
  ///   - parent: The registry that serves requests for which the new registry has no registration. A registration in
  ///     the new registry takes precedence over all of the parent's registrations, however specific they are.
  ///   - context: The purpose of the registry's values. The default is the parent's context or, without a parent,
  ///     `.live`.
  ///   - clock: The clock that determines when kept values expire, such as a test clock. The default is the parent's
  ///     clock or, without a parent, a `ContinuousClock`.
  public init(
    parent: InitializerRegistry? = nil, context: InjectionContext? = nil, clock: (any Clock<Duration>)? = nil
  ) {
    let context = context ?? parent?.context ?? .live
    // A child of the shared registry has no outer reporter, because a request to the child isn't a direct use of the
    // shared registry.
    let outer = parent.flatMap { $0 === InitializerRegistry.shared ? nil : $0.reporter }
    reporter = context == .test ? RegistryReporter(outer: outer) : nil
    (self.parent, self.context) = (parent, context)
    self.clock = clock.map { ElapsedClock($0) } ?? parent?.clock ?? .continuous
    hooks = Hooks()
    reinjections = Lock([:])
    madeReference = Lock(nil)
    number = Self.lastNumber.add(1, ordering: .relaxed).newValue
  }

  /// Creates the registry that takes the place of one that ends, until its kept values are dropped.
  ///
  /// The new registry takes over all that answers a request, and is what `reference` refers to from now on.
  init(inPlaceOf registry: InitializerRegistry, _ reference: RegistryReference?) {
    (parent, context, clock, reporter) = (registry.parent, registry.context, registry.clock, registry.reporter)
    madeReference = Lock(reference)
    number = registry.number
    hooks = Hooks(copying: registry.hooks)
    reinjections = Lock(registry.reinjections.withLock(\.self))
    isForContainers.store(registry.isForContainers.load(ordering: .relaxed), ordering: .relaxed)
    takeRegistrations(of: registry)
    reference?.replaceTarget(with: self)
  }

  deinit {
    let reference = madeReference.withLock(\.self)
    if reference != nil || table.read({ $0.hasKeptValues }) { end(reference) }
  }

  /// Creates a registry whose parent is this one, for example for a single request to a server.
  ///
  /// ```swift
  /// let child = registry.child { $0.register(.instance(request)) }
  /// try await child.run { try await handle(request) }
  /// ```
  ///
  /// - Parameters:
  ///   - context: The purpose of the child's values. The default is this registry's context.
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

  /// Runs `body` with this registry as the current registry.
  ///
  /// The registry is also current in the tasks that `body` starts, except detached tasks.
  ///
  /// An object that `body` makes keeps this registry alive, because the object's properties may need the registry
  /// later. If you register that object in this registry after `body` returns, the object and the registry keep each
  /// other alive.
  ///
  /// In two cases, the objects that `body` makes don't keep the registry alive, so hold the registry for as long as you
  /// use the objects:
  ///
  /// - `body` itself registers anything in this registry or a parent. Even then, an object that an initializer of scope
  ///   `.unique` makes keeps the registry alive.
  /// - `run` is called while a value of any scope but `.unique` is being made.
  @discardableResult
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = CurrentThread.current
    let context = TaskContext(self)
    defer { context.end() }
    return try TaskContext.$local.withValue(context) {
      // The registry of the initializer that the task is running would take precedence over the registry of its
      // context, so `body` runs in a `Frame` without a registry.
      if thread.innermost == nil { return try body() }
      return try thread.with(nil, isKept: thread.isKept, body)
    }
  }

  // Without this overload, the compiler rejects a closure of one statement whose result isn't used, such as a
  // registration, if the call of `run` is itself the one statement of a closure.
  /// Runs a `body` that returns nothing with this registry as the current registry.
  public func run(_ body: () throws -> Void) rethrows {
    func run<Result>(_ body: () throws -> Result) rethrows -> Result { try self.run(body) }
    try run(body)
  }

  /// Runs an async `body` with this registry as the current registry.
  ///
  /// The registry is also current in the tasks that `body` starts, except detached tasks.
  @discardableResult
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let context = TaskContext(self)
    defer { context.end() }
    return try await TaskContext.$local.withValue(context, operation: body, isolation: isolation)
  }

  /// Calls `hook` after each injection of any value through this registry, and of any value that this registry keeps.
  ///
  /// The hook runs after the registration's hooks, the property's own hook and the container's ``InjectionObserver``.
  /// Use it for recording and diagnosis. Hooks stay for as long as the registry exists. They run on the requesting
  /// thread, with no lock held. No hooks of registrations or registries run for the values that a hook injects.
  public func onInjection(_ hook: @escaping @Sendable (Any, InjectionPoint) -> Void) { hooks.add(hook) }

  /// Calls `hook` after each injection through this registry, but not for what it keeps if a child is asked.
  package func onOwnInjection(_ hook: @escaping @Sendable (Any, InjectionPoint) -> Void) {
    hooks.add(isForChildren: false, hook)
  }

  /// This registry, its parent, and so on up to the outermost registry.
  package var lineage: some Sequence<InitializerRegistry> { sequence(first: self, next: \.parent) }

  /// The registrations of this registry that others hide, in the order of registration.
  package var hiddenRegistrations: [RegistrationRecord] { table.read { $0.allHidden } }

  /// The registrations of this registry in the order of registration, and then the default registrations of keys.
  ///
  /// Hidden registrations are left out.
  ///
  /// A declared key gets its default registration at its first use. The default registration is left out if another
  /// registration serves the key for all properties.
  package var registrations: [RegistrationRecord] {
    table.read { $0.all + $0.defaultsInForce }
  }
}

extension InitializerRegistry: CustomStringConvertible {
  /// A list of the registrations of this registry and of its parents, with one line for each registration.
  ///
  /// A line shows the service, and the class and name to which the registration is limited. It also shows the scope or
  /// the word `instance`, whether a value is kept, and the place of the registration in the source code.
  ///
  /// ```swift
  /// print(registry)
  /// // Registry for context .test, with 1 registration:
  /// //   Clock: singleton, kept, at App/Services.swift:12
  /// ```
  public var description: String {
    lineage.map { registry in
      func line(of record: RegistrationRecord, isHidden: Bool) -> String {
        let isKept = record.keptValues.contains { $0.isReady(in: registry) }
        let scope = record.isInstance ? "instance" : record.scopeName + (isKept ? ", kept" : "")
        return "\n  \(record.summary): \(scope)\(isHidden ? ", hidden" : ""), at \(record.place)"
      }
      let lines =
        registry.hiddenRegistrations.map { line(of: $0, isHidden: true) }
        + registry.registrations.map { line(of: $0, isHidden: false) }
      let context = registry.context == .live ? "" : " for context .\(registry.context)"
      let name = (registry === self ? "Registry" : "Parent") + context
      return "\(name), with \(lines.count) registration\(lines.count == 1 ? "" : "s")\(lines.isEmpty ? "" : ":")"
        + lines.joined()
    }.joined(separator: "\n")
  }
}
