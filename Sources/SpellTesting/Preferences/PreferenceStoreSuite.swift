public import PreferenceStorage
public import Testing

/// What every preference store has to do, as checks that any store can be run through.
///
/// ```swift
/// @Test(arguments: PreferenceStoreSuite.checks)
/// func keepsTheContract(check: PreferenceStoreSuite.Check) async {
///   await check.run { SessionStore() }
/// }
/// ```
///
/// A store that outlives its process is run through ``lastingChecks`` too, with a way to open it again:
///
/// ```swift
/// @Test(arguments: PreferenceStoreSuite.checks + PreferenceStoreSuite.lastingChecks)
/// func keepsTheContract(check: PreferenceStoreSuite.Check) async {
///   let file = newFile()
///   await check.run(reopening: { try FileStore(file) }) { try FileStore(file) }
/// }
/// ```
public enum PreferenceStoreSuite {
  /// The checks for every store.
  public static let checks = valueChecks + keyChecks + transactionChecks + changeChecks

  /// The checks for stores that keep their values for the next time the program runs.
  public static let lastingChecks = reopeningChecks

  /// One thing that a store has to do.
  public struct Check: Sendable, Identifiable, CustomTestStringConvertible {
    /// What the store does: `keeps strings byte for byte`.
    public let name: String
    /// What the store does, which tells the checks from each other.
    public var id: String { name }
    /// What the store does.
    public var testDescription: String { name }

    let body: @Sendable (StoreTrial) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (StoreTrial) async throws -> Void) {
      self.name = name
      self.body = body
    }

    /// Runs the check, and reports what the store does otherwise as failures of the running test.
    ///
    /// A store that deadlocks makes the check hang: give the test a time limit.
    ///
    /// - Parameters:
    ///   - reopen: Opens anew what the store that was made has kept, as the program's next run would. Only the
    ///     ``PreferenceStoreSuite/lastingChecks`` call it, and they fail without it.
    ///   - patience: How long to wait for a notice before it is taken for lost. It costs time only where one is.
    ///   - sourceLocation: Where to show the failures.
    ///   - makeStore: Makes an empty store. Called once.
    public func run(
      reopening reopen: (@Sendable () async throws -> any PreferenceStore)? = nil, patience: Duration = .seconds(10),
      sourceLocation: SourceLocation = #_sourceLocation,
      _ makeStore: @Sendable () async throws -> any PreferenceStore
    ) async {
      do {
        let store = try await makeStore()
        try await body(
          StoreTrial(check: name, store: store, reopen: reopen, patience: patience, sourceLocation: sourceLocation))
      } catch {
        Issue.record(error, "A store \(name), and this one threw.", sourceLocation: sourceLocation)
      }
    }
  }
}
