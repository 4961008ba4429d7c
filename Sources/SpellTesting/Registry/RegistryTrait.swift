internal import PreferenceStorage
public import SpellRegistry
public import Testing

/// Gives each test a current registry of its own.
///
/// ```swift
/// @Suite(.registry) struct PageTests {
///   @Test func showsTheTracker() {
///     InitializerRegistry.current.register((any Tracker).self) { FakeTracker() }
///     #expect(Page().tracker is FakeTracker)
///   }
/// }
/// ```
///
/// All traits that a test has, its own and its suites', configure one registry, the outermost first, as if their
/// registrations were written one after the other: what a suite registers holds unless a suite within it, or the test,
/// registers something else for the same type, container and name. An override so reaches singletons, too.
///
/// An exit test's body runs in a process of its own, which no trait reaches. Make a registry current there:
///
/// ```swift
/// await #expect(processExitsWith: .failure) {
///   try await InitializerRegistry().run { try await deleteEverything() }
/// }
/// ```
///
/// On a suite it reaches every test in it, suites within it included; on a parameterised test, every case. The registry
/// is empty but for a preference store in memory, so tests run in parallel and touch no disk. Its context is `.test`, and
/// a property that can't be injected records an issue with the whole message before it stops the program.
public struct RegistryTrait: SuiteTrait, TestTrait, TestScoping {
  private let clock: (@Sendable () -> any Clock<Duration>)?
  private let configure: @Sendable (InitializerRegistry) throws -> Void

  /// The registry that a trait further out has made for the running test.
  @TaskLocal private static var registry: InitializerRegistry?

  init(
    clock: (@Sendable () -> any Clock<Duration>)? = nil,
    _ configure: @escaping @Sendable (InitializerRegistry) throws -> Void
  ) {
    self.clock = clock
    self.configure = configure
  }

  /// True: a suite's trait is each of its tests'.
  public var isRecursive: Bool { true }

  /// Runs one test, or one case of it, with a registry made for it.
  ///
  /// - Throws: What the test throws, or what could not be made for it.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let current = InitializerRegistry.current
    if let registry = Self.registry, registry === current {
      try configure(registry)
      return try await function()
    }
    let registry = Self.makeRegistry(for: test, within: current)
    try configure(registry)
    try await Self.$registry.withValue(registry) { try await registry.run(function) }
  }

  /// A registry for the test alone, with the clock that its innermost trait names.
  ///
  /// The registry that another library's trait has made current is left as it is, and looked at for what the new one
  /// doesn't have.
  private static func makeRegistry(for test: Test, within current: InitializerRegistry) -> InitializerRegistry {
    let clock = test.traits.compactMap { ($0 as? RegistryTrait)?.clock }.last?()
    let isOutermost = current === InitializerRegistry.shared
    let registry = InitializerRegistry(parent: isOutermost ? nil : current, context: .test, clock: clock)
    registry.reporter.onFailure = { Issue.record(Comment(rawValue: $0)) }
    if isOutermost { registry.register(instance: MemoryPreferenceStore() as any PreferenceStore) }
    if let clock { registry.register(clock: clock) }
    return registry
  }
}

extension InitializerRegistry {
  /// Registers a clock as what it is, for the test, and as any clock, for what is tested.
  fileprivate func register(clock: some Clock<Duration>) {
    register(instance: clock)
    register(instance: clock as any Clock<Duration>)
  }
}

/// How a test's registry treats declared keys that have no initializer for tests.
public enum RegistryStrictness: Sendable {
  /// The test fails, with an issue that names the key and the property that asked, and goes on with the live initializer.
  ///
  /// One issue for each key and test, unless something is registered for the key.
  case strict
}

extension Trait where Self == RegistryTrait {
  /// A fresh current registry for each test, and for each case of a parameterised one.
  public static var registry: RegistryTrait { RegistryTrait { _ in } }

  /// A fresh current registry for each test, with registrations that all of them need.
  ///
  /// ```swift
  /// @Suite(.registry { $0.register(instance: RecordingConsole(), as: .anySupertype) })
  /// ```
  ///
  /// - Parameter configure: Runs once for each test, and each case of a parameterised one, so what it makes is that
  ///   test's own. If it throws the test fails and isn't run.
  public static func registry(
    _ configure: @escaping @Sendable (InitializerRegistry) throws -> Void
  ) -> RegistryTrait {
    RegistryTrait(configure)
  }

  /// A fresh current registry for each test, strict about declared keys, with registrations that all tests need.
  ///
  /// ```swift
  /// @Suite(.registry(.strict)) struct CheckoutTests { … }
  /// ```
  ///
  /// - Parameters:
  ///   - strictness: What happens if a test reaches a key's live initializer.
  ///   - configure: Runs once for each test, and each case of a parameterized one. If it throws the test fails and isn't
  ///     run.
  public static func registry(
    _ strictness: RegistryStrictness,
    _ configure: @escaping @Sendable (InitializerRegistry) throws -> Void = { _ in }
  ) -> RegistryTrait {
    RegistryTrait { registry in
      registry.reporter.onLiveInitializer = { Issue.record(Comment(rawValue: $0)) }
      try configure(registry)
    }
  }

  /// A fresh current registry for each test, whose expiring values grow old by a clock of the test's own.
  ///
  /// ```swift
  /// @Suite(.registry(clock: TestClock()) { registerServices(in: $0) }) struct SessionTests {
  ///   @Test func endsAfterAnHour() throws {
  ///     let clock = try InitializerRegistry.current.resolve(TestClock.self)
  ///     clock.advance(by: .seconds(3600))
  ///   }
  /// }
  /// ```
  ///
  /// The clock is registered as its own type and as `any Clock<Duration>`. Whatever trait of the test it stands in, it
  /// is there before anything is registered; where several traits name one, the innermost's is taken.
  ///
  /// - Parameters:
  ///   - clock: Evaluated for each test, and each case of a parameterised one.
  ///   - configure: Runs once for each test and each case, too. If it throws the test fails and isn't run.
  public static func registry<TimeSource: Clock<Duration>>(
    clock: @autoclosure @escaping @Sendable () -> TimeSource,
    _ configure: @escaping @Sendable (InitializerRegistry) throws -> Void = { _ in }
  ) -> RegistryTrait {
    RegistryTrait(clock: clock, configure)
  }
}
