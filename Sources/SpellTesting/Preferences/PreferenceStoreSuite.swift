public import PreferenceStorage
public import Testing

/// Checks of the requirements of a preference store.
///
/// ```swift
/// @Test(arguments: PreferenceStoreSuite.checks)
/// func keepsTheContract(check: PreferenceStoreSuite.Check) async {
///   await check.run { SessionStore() }
/// }
/// ```
///
/// Run a store that outlives its process through ``lastingChecks`` too, with a way to open it again:
///
/// ```swift
/// let everyCheck =
///   PreferenceStoreSuite.checks + PreferenceStoreSuite.lastingChecks
///
/// @Test(arguments: everyCheck)
/// func keepsTheContract(check: PreferenceStoreSuite.Check) async {
///   let file = newFile()
///   await check.run(reopening: { try FileStore(file) }) {
///     try FileStore(file)
///   }
/// }
/// ```
public enum PreferenceStoreSuite {
  /// The checks for every store.
  public static let checks = valueChecks + keyChecks + transactionChecks + changeChecks

  /// The checks for stores that keep their values for the next time the program runs.
  public static let lastingChecks = reopeningChecks

  /// A requirement of a store.
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

    /// Runs the check, and reports deviations as failures of the running test.
    ///
    /// A store that deadlocks makes the check hang, so give the test a time limit.
    ///
    /// - Parameters:
    ///   - reopen: Opens the store again, as the program's next run would. Only the
    ///     ``PreferenceStoreSuite/lastingChecks`` call it, and they fail without it.
    ///   - patience: How long to wait for a notification. It takes time only if one is missing.
    ///   - sourceLocation: The source location of the failures.
    ///   - makeStore: Creates an empty store. Called once.
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
