internal import PreferenceStorage
internal import Synchronization

/// The values that a store reads: in memory, and in the snapshot.
final class LocalValues: Sendable {
  let hub = PreferenceHub()
  private let contents: Mutex<Replica>
  private let snapshot: FilePreferenceStore?
  private let standing = Mutex(EtcdState.away(PreferenceError(.unreadable, "etcd was not asked yet")))

  /// - Throws: What the snapshot can't be read for.
  init(snapshot: FilePreferenceStore?) throws(PreferenceError) {
    var values: [(String, String)] = []
    for key in snapshot?.keys ?? [] {
      if let json = try snapshot?.json(forKey: key) { values.append((key, json)) }
    }
    contents = Mutex(Replica(snapshot: values))
    self.snapshot = snapshot
  }

  var replica: Replica { contents.withLock { $0 } }

  var state: EtcdState { standing.withLock { $0 } }

  func json(forKey key: String) -> String? { contents.withLock { $0.entries[key]?.json } }

  /// Changes the values, and returns the keys that the body says have changed: the hub is to be told of them.
  func update(_ body: (inout Replica) -> Set<String>) -> Set<String> {
    let changed = contents.withLock { body(&$0) }
    if !changed.isEmpty { save(changed) }
    return changed
  }

  /// Notes that etcd answers.
  func arrive() { standing.withLock { $0 = .connected } }

  /// Notes that etcd doesn't answer, and reports it if it did so far.
  func leave(_ error: PreferenceError) {
    let isNew = standing.withLock { state in
      defer { state = .away(error) }
      return state.isConnected
    }
    if isNew { hub.report(error) }
  }

  /// The errors from now on, the first one being why etcd is away, if it is.
  var errors: AsyncStream<PreferenceError> {
    let later = hub.errors
    guard case .away(let reason) = state else { return later }
    let (stream, continuation) = AsyncStream.makeStream(of: PreferenceError.self)
    continuation.yield(reason)
    let forwarding = Task {
      for await error in later { continuation.yield(error) }
    }
    continuation.onTermination = { _ in forwarding.cancel() }
    return stream
  }

  /// Writes what the values are now into the snapshot, which may be later values than those that the caller saw.
  ///
  /// So a thread that is late doesn't put an old value in the place of a new one.
  private func save(_ keys: Set<String>) {
    guard let snapshot else { return }
    do {
      try snapshot.transaction { changes in
        let replica = self.replica
        for key in keys where replica.entries[key] == nil { changes.removeValue(forKey: key) }
        for key in keys.count == 1 ? Array(keys) : replica.keys where keys.contains(key) {
          guard let json = replica.entries[key]?.json else { continue }
          // One that another program has put, and isn't JSON, doesn't keep the others out.
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
