public import PreferenceStorage
// This export lets a test that imports only SpellTesting also use SpellDiagnostics to check the program's properties.
@_exported public import SpellDiagnostics
public import SpellRegistry
internal import Support
public import Testing

/// A trait that gives each test its own current registry.
///
/// ```swift
/// @Suite(.registry) struct PageTests {
///   @Test func showsTheTracker() {
///     let registry = InitializerRegistry.current
///     registry.register((any Tracker).self) { FakeTracker() }
///     #expect(Page().tracker is FakeTracker)
///   }
/// }
/// ```
///
/// All traits of a test and of its suites configure one registry, from the outermost trait to the innermost. A suite's
/// registration applies unless an inner suite or the test itself registers something else for the same type, class and
/// name. Because there is only one registry, an override also reaches the dependencies of singletons.
///
/// The body of an exit test runs in another process, without traits. Run the code of that body in
/// `InitializerRegistry(context: .test).run { … }`.
///
/// The trait applies to each test of a suite and its inner suites, and to each case of a parameterized test. The
/// registry begins with only a preference store in memory, so tests can run in parallel, and no preference is written
/// to a disk. But if another library's trait has made a registry current, the test's registry begins as an empty child
/// of that registry. The test's registry has the context `.test`. If a property can't be injected, the whole error
/// message is recorded as an issue before the program stops.
///
/// If a test runs the live initializer of a declared key that has no `test` initializer, a warning on standard error
/// names the key, once in the process. With `.strict`, an issue names the key instead. To allow the live initializer in
/// tests, declare the key with `liveInTests()`.
public struct RegistryTrait: SuiteTrait, TestTrait, TestScoping {
  private let clock: (@Sendable () -> any Clock<Duration>)?
  /// The closure that makes the trait's registrations; nil if the trait registers nothing.
  private let configure: (@Sendable (InitializerRegistry) throws -> Void)?

  /// The registries that traits have created for the running test, with the current registry last.
  @TaskLocal fileprivate static var registries: [InitializerRegistry] = []

  init(
    clock: (@Sendable () -> any Clock<Duration>)? = nil,
    _ configure: (@Sendable (InitializerRegistry) throws -> Void)?
  ) {
    (self.clock, self.configure) = (clock, configure)
  }

  /// True, so that a suite's trait applies to each test of the suite.
  public var isRecursive: Bool { true }

  /// Runs a test, or one case of a parameterized test, with its own registry.
  ///
  /// - Throws: The error that the test or the trait's own closure throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let current = InitializerRegistry.current
    if Self.registries.last === current {
      if let configure { try current.run { try configure(current) } }
      return try await function()
    }
    let registry = Self.makeRegistry(for: test, within: current)
    defer { RegistryEscapes.current.end(of: registry) }
    try await Self.$registries.withValue(Self.registries + [registry]) {
      if let configure { try registry.run { try configure(registry) } }
      try await registry.run(function)
    }
  }

  /// Creates the registry of one test, with the clock of the innermost trait that has a clock, and starts to watch the
  /// requests to the registry.
  ///
  /// If `current` isn't the shared registry, for example because of another library's trait, `current` becomes the new
  /// registry's parent.
  private static func makeRegistry(for test: Test, within current: InitializerRegistry) -> InitializerRegistry {
    let clock = test.traits.compactMap { ($0 as? RegistryTrait)?.clock }.last?()
    let isOutermost = current === InitializerRegistry.shared
    let registry = InitializerRegistry(parent: isOutermost ? nil : current, context: .test, clock: clock)
    registry.reporter?.receivers.withLock { receivers in
      receivers.onFailure = { Issue.report($0, at: $1, in: test) }
      receivers.test = "\(test.name) (\(test.sourceLocation.fileID):\(test.sourceLocation.line))"
    }
    let store = isOutermost ? registry.register(.instance(MemoryPreferenceStore() as any PreferenceStore)) : nil
    RegistryEscapes.current.begin(test, registry, usual: store?.record)
    /// Registers the clock as its own type, for the test, and as `any Clock<Duration>`, for the code under test.
    func register(_ clock: some Clock<Duration>) {
      registry.register(.instance(clock))
      registry.register(.instance(clock as any Clock<Duration>))
    }
    if let clock { register(clock) }
    return registry
  }
}

extension Issue {
  /// The stream that gets this module's issues instead of the running test; set only by tests of this module.
  @TaskLocal package static var receiver: AsyncStream<(text: String, location: SourceLocation)>.Continuation?

  static func report(_ text: String, at location: SourceLocation = #_sourceLocation) {
    if receiver?.yield((text, location)) == nil { record(Comment(rawValue: text), sourceLocation: location) }
  }

  /// Reports an issue at a place, or at the test if the place isn't known or its file has no module.
  fileprivate static func report(_ text: String, at place: SourcePlace?, in test: Test?) {
    guard let place, case let file = "\(place.fileID)", file.contains("/") else {
      return report(text, at: test?.sourceLocation ?? #_sourceLocation)
    }
    report(text, at: .init(fileID: file, filePath: file, line: max(Int(place.line), 1), column: 1))
  }
}

/// A detector of code that uses the shared registry, or another test's registry, instead of its own test's registry.
package final class RegistryEscapes: Sendable {
  /// The detector that the current task uses, which is the same for all tasks except in tests of this module.
  @TaskLocal package static var current = RegistryEscapes()

  /// The running tests, each with its registry.
  ///
  /// `usual` is the registration of the preference store that the registry began with; nil if it began without a store.
  private let running = Lock<[(test: Test, registry: InitializerRegistry, usual: RegistrationRecord?)]>([])
  private let reported = Lock<Set<String>>([])
  package init() {}

  private static let watchShared: Void? = InitializerRegistry.shared.reporter?.watch { service, isFound, step in
    if Test.current == nil, current.report(service, step) { return }
    InitializerRegistry.warnOfSharedUse(service, isFound, step)
  }

  /// Reports a request to the shared registry if a running test's own registry would handle the request differently.
  ///
  /// Each request is reported only once.
  ///
  /// A detached task doesn't show which test started it. The request is therefore reported even if only one of the
  /// running tests has a registration of its own for the service. If all running tests had to have such a registration,
  /// a test that gets a report when it runs alone might get none when it runs together with other tests.
  ///
  /// - Returns: Whether there is such a running test, even if the request was reported earlier.
  private func report(_ service: Service, _ step: () -> InjectionStep) -> Bool {
    let running = running.withLock(\.self).filter { $0.registry.overrides(service, besides: $0.usual) }
    guard let first = running.first else { return false }
    let step = step()
    if !reported.withLock({ $0.insert("\(step)").inserted }) { return true }
    let what = step.typeName + (step.property.map { " for \($0)" } ?? step.name.map { " named \"\($0)\"" } ?? "")
    Issue.report(
      """
      \(what) came from the shared registry, outside of any test, while a test with its own registration ran: \
      \(running.prefix(5).map(\.test.name).joined(separator: ", ")). A detached task and a queue don't have the test's registry: write \
      Task { … } instead, or registry.run { … } in it. If the code belongs to another test, give that test .registry, too.
      """, at: step.declarationPlace, in: first.test)
    return true
  }

  /// Adds `test` to the running tests, and starts to report other tests that use an object of the test's registry.
  func begin(_ test: Test, _ registry: InitializerRegistry, usual: RegistrationRecord?) {
    _ = Self.watchShared
    running.withLock { $0.append((test, registry, usual)) }
    registry.reporter?.watch { [weak reporter = registry.reporter] _, _, step in
      let isOwn = RegistryTrait.registries.contains { $0.reporter === reporter }
      guard !isOwn, let other = Test.current else { return }
      let step = step()
      Issue.report(
        """
        \(step.property ?? step.typeName) is used in the test \(other.name), and belongs to the registry of \
        \(other.id == test.id ? "another case of it" : "the test \(test.name)"). Both have the object, as a static: make it \
        in each test, or register it and inject it.
        """, at: step.declarationPlace, in: other)
    }
  }

  /// Removes a registry from the list of running tests, because its test has ended.
  ///
  /// After this call, the next read of each injected property is a request, even if the property has a value. If a
  /// later test reads an injected property of an object that was made in this registry, the read can therefore be
  /// reported.
  func end(of registry: InitializerRegistry) {
    running.withLock { $0.removeAll { $0.registry === registry } }
    registry.reporter?.noteReads()
  }
}

extension InitializerRegistry {
  /// Returns whether this registry would handle a request for a service differently from the shared registry.
  ///
  /// The result is true if this registry or a parent has a registration for the service that isn't limited to a class
  /// or a name. For an Optional type, a registration of the wrapped type also counts. The default of a declared key
  /// doesn't count. The result is also true if the service's key has no test initializer and the trait is `.strict`.
  ///
  /// - Parameter usual: A registration to ignore, because the registry began with it; nil if there is none.
  fileprivate func overrides(_ service: Service, besides usual: RegistrationRecord?) -> Bool {
    service.key?.hasInitializer(for: .test) == false && reporter?.receivers.withLock(\.onLiveInitializer) != nil
      || reachable.map(\.record).contains { record in
        sequence(first: service, next: \.wrapped).contains(record.service) && record.isUnlimited && !record.isDefault
          && record !== usual
      }
  }
}

/// The treatment of declared keys that have no initializer for tests.
public enum RegistryStrictness: Sendable {
  /// The use of a key that has only a live initializer fails the test, with an issue that names the key and the
  /// property.
  ///
  /// The live initializer still makes the value. There is one issue for each key and test, and none if something is
  /// registered for the key. Without `.strict`, a warning on standard error names the key, once in the process.
  case strict
}

extension Trait where Self == RegistryTrait {
  /// A trait that makes a new registry current for each test, and for each case of a parameterized test.
  public static var registry: RegistryTrait { RegistryTrait(nil) }

  /// Returns a trait that makes a new registry current for each test, with the registrations that a closure makes.
  ///
  /// - Parameter configure: A closure that makes the registrations. It runs once for each test, and for each case of a
  ///   parameterized test, so tests share no objects that it creates. If it throws, the test fails without running.
  public static func registry(
    _ configure: @escaping @Sendable (InitializerRegistry) throws -> Void
  ) -> RegistryTrait {
    RegistryTrait(configure)
  }

  /// Returns a trait that makes a new registry current for each test, and reports keys without a test initializer.
  ///
  /// ```swift
  /// @Suite(.registry(.strict)) struct CheckoutTests { … }
  /// ```
  ///
  /// - Parameters:
  ///   - strictness: The treatment of a test that reaches a key's live initializer.
  ///   - configure: A closure that makes registrations. It runs once for each test, and for each case of a
  ///     parameterized test. If it throws, the test fails without running.
  public static func registry(
    _ strictness: RegistryStrictness,
    _ configure: @escaping @Sendable (InitializerRegistry) throws -> Void = { _ in }
  ) -> RegistryTrait {
    RegistryTrait { registry in
      let test = Test.current
      registry.reporter?.receivers.withLock { $0.onLiveInitializer = { Issue.report($0, at: $1, in: test) } }
      try configure(registry)
    }
  }

  /// Returns a trait that makes a new registry current for each test, with a clock that determines when values expire.
  ///
  /// ```swift
  /// @Test(.registry(clock: TestClock())) func endsAfterAnHour() throws {
  ///   try InitializerRegistry.current.resolve(TestClock.self).advance(by: .seconds(3600))
  /// }
  /// ```
  ///
  /// The clock is registered as its own type and as `any Clock<Duration>`, before the traits register anything. If
  /// several traits have a clock, the clock of the innermost trait is used.
  ///
  /// - Parameters:
  ///   - clock: The clock, which is created for each test, and for each case of a parameterized test.
  ///   - configure: A closure that makes registrations. It runs once for each test and each case. If it throws, the
  ///     test fails without running.
  public static func registry<TimeSource: Clock<Duration>>(
    clock: @autoclosure @escaping @Sendable () -> TimeSource,
    _ configure: @escaping @Sendable (InitializerRegistry) throws -> Void = { _ in }
  ) -> RegistryTrait {
    RegistryTrait(clock: clock, configure)
  }

  /// Returns a trait that registers a new preference store for each test, in the test's own current registry.
  ///
  /// ```swift
  /// @Test(.preferences(try FilePreferenceStore(url: newFile())))
  /// func keepsTheVolume() { … }
  /// ```
  ///
  /// All traits of a test share a registry, so this trait works without `.registry`, and also before or after
  /// `.registry`. If several traits have a store, the store of the innermost trait is used. If one test or suite has
  /// several of these traits, the store of the last trait is used.
  ///
  /// - Parameter store: The store, which is created for each test, and for each case of a parameterized test, so that
  ///   tests don't share it. If the expression throws, the test fails without running.
  public static func preferences(
    _ store: @autoclosure @escaping @Sendable () throws -> any PreferenceStore
  ) -> RegistryTrait {
    RegistryTrait { $0.register(.instance(try store())) }
  }

  /// Returns a trait that registers a new preference store in memory, with initial values, for each test.
  ///
  /// ```swift
  /// @Suite(.preferences(["volume": 7, "nickname": "Ada"]))
  /// struct SettingsTests { … }
  /// ```
  ///
  /// - Parameter values: The initial values by key, in the order in which they are written. A value that can't be
  ///   encoded fails the test.
  public static func preferences(
    _ values: @autoclosure @escaping @Sendable () -> KeyValuePairs<String, any Codable>
  ) -> RegistryTrait {
    RegistryTrait { $0.register(.instance(try MemoryPreferenceStore(values()) as any PreferenceStore)) }
  }
}
