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
/// A test's own trait adds to its suite's: what the suite's registers holds unless the test's registers something else.
///
/// On a suite it reaches every test in it, suites within it included; on a parameterised test, every case. The registry
/// is empty but for a preference store in memory, so tests run in parallel and touch no disk.
public struct RegistryTrait: SuiteTrait, TestTrait, TestScoping {
  private let configure: @Sendable (InitializerRegistry) -> Void

  init(_ configure: @escaping @Sendable (InitializerRegistry) -> Void) { self.configure = configure }

  /// True: a suite's trait is each of its tests'.
  public var isRecursive: Bool { true }

  /// Runs one test, or one case of it, with a registry made for it.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    // A trait further out has set one for this very test: what it registered holds here, too.
    let outer = InitializerRegistry.current
    let isOutermost = outer === InitializerRegistry.shared
    let registry = InitializerRegistry(parent: isOutermost ? nil : outer)
    if isOutermost { registry.register(instance: MemoryPreferenceStore() as any PreferenceStore) }
    configure(registry)
    try await registry.run(function)
  }
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
  ///   test's own.
  public static func registry(_ configure: @escaping @Sendable (InitializerRegistry) -> Void) -> RegistryTrait {
    RegistryTrait(configure)
  }
}
