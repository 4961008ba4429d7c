internal import PreferenceStorage
internal import Synchronization

/// A store's local copy of its values, in memory and in the snapshot file.
final class LocalValues: Sendable {
  let hub = PreferenceHub()
  private let contents: Mutex<Contents>
  private let snapshot: FilePreferenceStore?
  /// A lock for writing the snapshot.
  private let saving = Mutex(())
  private let standing = Mutex(EtcdState.away(PreferenceError(.unreadable, "etcd was not asked yet")))
  /// The reason that an unreadable snapshot was moved away, or nil if no snapshot was moved.
  let snapshotFailure: PreferenceError?

  init(snapshot: Snapshot?) {
    contents = Mutex(Contents(replica: Replica(snapshot: snapshot?.values ?? [])))
    self.snapshot = snapshot?.file
    snapshotFailure = snapshot?.failure
  }

  private struct Contents: Sendable {
    var replica: Replica
    /// The keys whose values aren't in the snapshot yet.
    var unsaved: Set<String> = []
  }

  var replica: Replica { contents.withLock { $0.replica } }

  var state: EtcdState { standing.withLock { $0 } }

  func json(forKey key: String) -> String? { contents.withLock { $0.replica.entries[key]?.json } }

  /// Changes the values, and returns the changed keys that `body` has returned.
  ///
  /// The caller notifies the hub of the changed keys. On return, the snapshot has all changes that `body` has seen or
  /// made, including changes by other threads.
  func update(_ body: (inout Replica) -> Set<String>) -> Set<String> {
    let changed = contents.withLock { contents in
      let changed = body(&contents.replica)
      contents.unsaved.formUnion(changed)
      return changed
    }
    if let snapshot { saving.withLock { _ in save(in: snapshot) } }
    return changed
  }

  /// Records that etcd answers, so that the state isn't `away` anymore.
  func arrive() { standing.withLock { if !$0.isConnected { $0 = .connected } } }

  /// Records that etcd doesn't answer, and reports the error unless etcd was already unavailable.
  func leave(_ error: PreferenceError) {
    let isNew = standing.withLock { state in
      defer { state = .away(error) }
      return state.isConnected
    }
    if isNew { hub.report(error) }
  }

  /// Records that etcd accepts changes, so that the state isn't `readOnly` anymore.
  func noteWrite() { standing.withLock { if case .readOnly = $0 { $0 = .connected } } }

  /// Records that etcd refuses changes, unless the state is `away`.
  func noteRefusal(_ error: PreferenceError) { standing.withLock { if $0.isConnected { $0 = .readOnly(error) } } }

  /// A stream of errors, which begins with the reasons if the snapshot was moved away or etcd isn't available.
  var errors: AsyncStream<PreferenceError> {
    let later = hub.errors
    var present = [snapshotFailure].compactMap(\.self)
    if case .away(let reason) = state { present.append(reason) }
    if present.isEmpty { return later }
    let (stream, continuation) = AsyncStream.makeStream(of: PreferenceError.self)
    for error in present { continuation.yield(error) }
    let forwarding = Task {
      for await error in later { continuation.yield(error) }
    }
    continuation.onTermination = { _ in forwarding.cancel() }
    return stream
  }

  /// Writes the changed values to the snapshot, while the caller holds the lock `saving`.
  private func save(in snapshot: FilePreferenceStore) {
    let (replica, keys) = contents.withLock { contents in
      defer { contents.unsaved = [] }
      return (contents.replica, contents.unsaved)
    }
    if keys.isEmpty { return }
    do {
      try snapshot.transaction { changes in
        for key in keys where replica.entries[key] == nil { changes.removeValue(forKey: key) }
        for key in keys.count == 1 ? Array(keys) : replica.keys where keys.contains(key) {
          guard let json = replica.entries[key]?.json else { continue }
          // If another program has written a value that isn't JSON, the other values are still saved.
          do throws(PreferenceError) { try changes.set(json: json, forKey: key) } catch { hub.report(error) }
        }
      }
    } catch {
      hub.report(
        PreferenceError(
          .unwritable, "the snapshot could not be written, and after a restart without etcd older values are read",
          underlying: error))
    }
  }
}
