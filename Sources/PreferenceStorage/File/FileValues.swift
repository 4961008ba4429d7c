import Support

/// The part of a file that readers see: the values in memory, the errors, and the notices of changes.
///
/// Any thread may use the object at any time.
final class FileValues: Sendable {
  private struct State: Sendable {
    var table = ValueTable()
    /// The error of the last attempt to read the file, which reads throw if `table` is empty; nil if it succeeded.
    var failure: PreferenceError?
    /// The time at which a reader last tried again to open or read the file after a failure.
    var lastTry: SuspendingClock.Instant?
    var recovery: PreferenceRecovery?
    /// The time at which the file was last looked at; nil before the first time.
    var lastLook: ContinuousClock.Instant?
  }
  private let state = Lock(State())
  /// The listeners, and the streams of errors.
  let hub: PreferenceHub

  init(hub: PreferenceHub) { self.hub = hub }

  // MARK: Reading

  /// Returns the JSON text of the key's value, or nil if the key has no value; throws if there are no values to read.
  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    let (text, failure) = state.withLock { state in
      (state.table.text(forKey: key), state.table.isEmpty ? state.failure : nil)
    }
    if let failure { throw failure }
    return text
  }

  /// Returns the key as the file spells it, with the text of its value; nil if the key has no value.
  func entry(forKey key: String) -> PreferenceChange? { state.withLock { $0.table.entry(forKey: key) } }

  var table: ValueTable { state.withLock(\.table) }
  /// The length of a file with one line for each key.
  var fileLength: Int { state.withLock { $0.table.fileLength } }
  var failure: PreferenceError? { state.withLock(\.failure) }
  var recovery: PreferenceRecovery? { state.withLock(\.recovery) }

  // MARK: Changing

  /// Makes changes that the file already contains, and adds to `news` those of which listeners have to be notified.
  func apply(_ changes: some Collection<PreferenceChange>, notingIn news: inout [PreferenceChange]) {
    state.withLock { state in
      state.failure = nil
      for change in changes where state.table.apply(change) && hub.isHeard { news.append(change) }
    }
  }

  /// Replaces all values, and adds to `news` the changes of which listeners have to be notified.
  func replaceTable(
    with table: ValueTable, because failure: PreferenceError? = nil, notingIn news: inout [PreferenceChange]
  ) {
    let old = state.withLock { state in
      defer { (state.table, state.failure) = (table, failure) }
      return state.table
    }
    if hub.isHeard { news += table.changes(since: old) }
  }

  /// Records that the file can't be read; reads throw the error if they have no values to return.
  func noteFailure(_ error: PreferenceError) { state.withLock { $0.failure = error } }

  func clearFailure() { state.withLock { $0.failure = nil } }

  func noteDamage(_ damage: PreferenceRecovery) { state.withLock { $0.recovery = damage } }

  func noteCopy(_ copy: FilePath) { state.withLock { $0.recovery?.copy = copy.url } }

  // MARK: Looking at the file

  func noteLook() { state.withLock { $0.lastLook = .now } }

  /// Whether the file was last looked at more than 50 milliseconds ago, or never.
  var isOutdated: Bool { state.withLock(\.lastLook).map { .now - $0 > Patience.briefLimit } ?? true }

  /// Returns whether a reader has to try again to read the file, which is so ten times a second after a failure.
  func beginTry() -> Bool {
    state.withLock { state in
      guard state.failure != nil else { return false }
      if let last = state.lastTry, .now - last < .milliseconds(100) { return false }
      state.lastTry = .now
      return true
    }
  }

  func endTry() { state.withLock { $0.lastTry = .now } }
}
