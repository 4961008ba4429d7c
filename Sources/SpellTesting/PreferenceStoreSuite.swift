public import PreferenceStorage
public import Testing

/// A suite of checks for an implementation of `PreferenceStore`.
///
/// ```swift
/// @Test(arguments: PreferenceStoreSuite.checks)
/// func keepsTheContract(check: PreferenceStoreSuite.Check) async {
///   await check.run { SessionStore() }
/// }
/// ```
///
/// For a store whose values outlive the process, also run the ``lastingChecks``, with a closure that reopens the store:
///
/// ```swift
/// let file = newFile()
/// await check.run(reopening: { try FileStore(file) }) { try FileStore(file) }
/// ```
public enum PreferenceStoreSuite {
  /// The checks for every store.
  public static let checks = valueChecks + keyChecks + transactionChecks + changeChecks

  /// The checks for stores that keep their values for the next run of the program.
  public static let lastingChecks = reopeningChecks

  /// A check of one requirement of a store.
  public struct Check: Sendable, Identifiable, CustomTestStringConvertible {
    /// The behavior that is checked, such as `keeps strings byte for byte`.
    public let name: String
    /// The behavior that is checked, which identifies the check.
    public var id: String { name }
    /// The behavior that is checked, which the test's output shows.
    public var testDescription: String { name }

    let body: @Sendable (StoreTrial) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (StoreTrial) async throws -> Void) {
      (self.name, self.body) = (name, body)
    }

    /// Runs the check, and reports deviations as failures of the running test.
    ///
    /// A store that deadlocks makes the check hang, so give the test a time limit.
    ///
    /// - Parameters:
    ///   - reopen: A closure that opens the store again, as the program's next run would. Only the
    ///     ``PreferenceStoreSuite/lastingChecks`` call this closure, and they fail without it.
    ///   - patience: The maximum time to wait for each notification. A check waits this long only if a notification is
    ///     missing.
    ///   - sourceLocation: The source location of the failures.
    ///   - makeStore: A closure that creates an empty store. The check calls it once.
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
        Issue.report("A store \(name), and this one threw: \(error)", at: sourceLocation)
      }
    }
  }
}

// MARK: A run of a check

/// One run of one check, with the store and the source location of failures.
struct StoreTrial: Sendable {
  let check: String
  let store: any PreferenceStore
  let reopen: (@Sendable () async throws -> any PreferenceStore)?
  let patience: Duration
  let sourceLocation: SourceLocation

  /// Reports an issue unless the condition holds.
  func expect(_ condition: Bool, else complaint: @autoclosure () -> String) {
    if !condition { Issue.report("A store \(check). \(complaint())", at: sourceLocation) }
  }

  /// Reports an issue unless the two values are equal.
  func expect<Value: Equatable>(_ value: Value, is expected: Value, _ when: String) {
    expect(value == expected, else: "\(when) it was \(value) and not \(expected).")
  }

  /// Reports an issue unless the body throws a `PreferenceError` with the given code.
  func expect(_ code: PreferenceError.Code, _ when: String, from body: () throws -> Void) {
    do {
      try body()
      expect(false, else: "\(when) it threw nothing, and not a PreferenceError of code .\(code).")
    } catch {
      expect((error as? PreferenceError)?.code == code, else: "\(when) it threw, and not .\(code): \(error)")
    }
  }

  /// Opens the store again, as the program's next run would, and returns the reopened store.
  func reopened() async throws -> any PreferenceStore {
    guard let reopen else { throw Unopened() }
    return try await reopen()
  }

  /// Waits until all expected keys are reported as changed, or until no change arrives within `patience`.
  ///
  /// - Returns: The keys that were reported.
  func hears(_ expected: Set<String>, from changes: PreferenceChanges) async -> Set<String> {
    var heard: Set<String> = []
    while !heard.isSuperset(of: expected), let keys = await next(changes) { heard.formUnion(keys) }
    return heard
  }

  private func next(_ changes: PreferenceChanges) async -> Set<String>? {
    await withTaskGroup(of: Set<String>?.self) { group in
      group.addTask {
        for await keys in changes { return keys }
        return nil
      }
      group.addTask { [patience] in
        // This task ends the wait if no change arrives in time.
        do { try await Task.sleep(for: patience) } catch { return [] }
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  private struct Unopened: Error, CustomStringConvertible {
    let description = "A lasting check needs a way to open the store again: run(reopening: { … }) { … }"
  }
}
