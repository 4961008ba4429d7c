import Support

/// The values of a store in memory, with everything that hangs on a change of them.
///
/// Written to by one thread at a time (the store's `Turn` sees to that), read by any.
final class StoreContents: Sendable {
  private struct Values: Sendable {
    var table = ValueTable()
    /// Why there is nothing to read, where the file could not be.
    var failure: PreferenceError?
  }

  private let values = Lock(Values())
  let changes = ChangeBroadcaster()
  let errors = ErrorBroadcaster()
  /// What was damaged in the file.
  let recovery = Lock<PreferenceRecovery?>(nil)

  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try values.withLock { values throws(PreferenceError) in
      if let failure = values.failure { throw failure }
      return values.table.text(forKey: key)
    }
  }

  /// The change with the key as it is spelled here; nil where it would change nothing.
  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    values.withLock { $0.table.change(to: text, forKey: key) }
  }

  var keys: [String] { table.keys }
  var liveBytes: Int { values.withLock { $0.table.liveBytes } }
  /// A copy, to be let go of before the next change, which would otherwise have to copy the table.
  var table: ValueTable { values.withLock { $0.table } }

  /// Makes the changes and returns the keys that have a listener or a reader.
  ///
  /// They are told when the turn and the lock were given back.
  func apply(_ all: some Collection<PreferenceChange>) -> Set<String> {
    var changed: [String] = []
    values.withLock { values in
      values.failure = nil
      for change in all where values.table.apply(change) {
        if changes.isHeard { changed.append(change.key) }
      }
    }
    return changed.isEmpty ? [] : Set(changed)
  }

  /// Puts another table in the place of this one and returns the keys that differ and have a listener or a reader.
  func replace(with table: ValueTable) -> Set<String> {
    let old = values.withLock { values in
      let old = values.table
      values.table = table
      values.failure = nil
      return old
    }
    return changes.isHeard ? table.keysThatDiffer(from: old) : []
  }

  /// Why nothing can be read; nil if something can.
  var failure: PreferenceError? { values.withLock(\.failure) }

  /// Makes every read fail, until there is something to read.
  func fail(with failure: PreferenceError) { values.withLock { $0.failure = failure } }
}

extension StoreContents: TransactionValues {}
