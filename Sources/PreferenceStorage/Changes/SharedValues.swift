import Locking

/// The values of a store in memory, with everything that hangs on a change of them.
///
/// Written to by one thread at a time (the store sees to that), read by any.
final class SharedValues: Sendable {
  private struct Contents: Sendable {
    var table = ValueTable()
    /// Why there is nothing to read, where the file could not be.
    var failure: PreferenceError?
  }

  private let contents = Lock(Contents())
  let version = PreferenceVersion()
  let changes = ChangeHub()
  let errors = ErrorHub()
  /// What was damaged in the file.
  let recovery = Lock<PreferenceRecovery?>(nil)

  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try contents.withLock { contents throws(PreferenceError) in
      if let failure = contents.failure { throw failure }
      return contents.table.text(forKey: key)
    }
  }

  /// Whether the change would be one.
  func isChange(_ text: JSONText?, forKey key: String) -> Bool {
    contents.withLock { $0.table.text(forKey: key) != text }
  }

  var keys: [String] { contents.withLock { $0.table }.keys }
  var liveBytes: Int { contents.withLock { $0.table.liveBytes } }
  /// A copy, to be let go of before the next change, which would otherwise have to copy the table.
  var table: ValueTable { contents.withLock { $0.table } }

  /// Makes the changes and returns those of the keys that someone wants to hear of.
  func apply(_ all: some Collection<PreferenceChange>) -> Set<String> {
    var changed: [String] = []
    contents.withLock { contents in
      contents.failure = nil
      for change in all where contents.table.apply(change) {
        if changes.isHeard { changed.append(change.key) }
      }
    }
    version.increment()
    return Set(changed)
  }

  /// Puts another table in the place of this one and returns the keys that someone wants to hear of.
  func replace(with table: ValueTable) -> Set<String> {
    let old = contents.withLock { contents in
      let old = contents.table
      contents.table = table
      contents.failure = nil
      return old
    }
    version.increment()
    return changes.isHeard ? table.keysThatDiffer(from: old) : []
  }

  /// Makes every read fail, until there is something to read.
  func fail(with failure: PreferenceError) {
    contents.withLock { $0.failure = failure }
    version.increment()
  }
}
