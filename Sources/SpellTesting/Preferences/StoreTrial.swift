internal import PreferenceStorage
internal import Testing

/// One run of one check: the store, and where to say what it does wrong.
struct StoreTrial: Sendable {
  let check: String
  let store: any PreferenceStore
  let reopen: (@Sendable () async throws -> any PreferenceStore)?
  let patience: Duration
  let sourceLocation: SourceLocation

  /// Reports what is wrong unless the condition holds.
  func expect(_ condition: Bool, else complaint: @autoclosure () -> String) {
    if !condition { Issue.record("A store \(check). \(complaint())", sourceLocation: sourceLocation) }
  }

  /// Reports what is wrong unless the two are equal.
  func expect<Value: Equatable>(_ value: Value, is expected: Value, _ when: String) {
    expect(value == expected, else: "\(when) it was \(value) and not \(expected).")
  }

  /// Reports what is wrong unless the body throws an error with this code.
  func expect(_ code: PreferenceError.Code, _ when: String, from body: () throws -> Void) {
    do {
      try body()
      expect(false, else: "\(when) it threw nothing, and not a PreferenceError of code .\(code).")
    } catch {
      expect((error as? PreferenceError)?.code == code, else: "\(when) it threw, and not .\(code): \(error)")
    }
  }

  /// The store that has what this one has kept.
  func reopened() async throws -> any PreferenceStore {
    guard let reopen else { throw Unopened() }
    return try await reopen()
  }

  /// The keys that are heard, until all of `expected` have been or nothing comes any more.
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
        // Ends a wait for what will not come; what comes is waited for above.
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
