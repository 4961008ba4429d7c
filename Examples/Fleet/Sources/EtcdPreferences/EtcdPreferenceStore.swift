public import Foundation
internal import NIOCore
public import PreferenceStorage
internal import Synchronization

/// A store whose values are in etcd, for settings that all machines of a fleet share.
///
/// ```swift
/// let store = try EtcdPreferenceStore(
///   EtcdCluster(endpoints: [URL(string: "http://127.0.0.1:2379")!]), prefix: "/shop/settings/",
///   snapshot: URL(filePath: "/var/lib/shop/settings.preferences"))
/// registry.register((any PreferenceStore).self, .instance(store))
/// ```
///
/// A value is JSON text under the prefix and the preference's key, so `etcdctl put /shop/settings/greeting '"hello"'`
/// sets one.
///
/// *When the work happens.* Creating the store reads all values from etcd, once. Later reads are from memory. A write
/// is one request. When it returns, the cluster's majority has the change. It blocks its thread, and no other thread of
/// the program. A change by another machine arrives by etcd's watch, some milliseconds later.
///
/// *Transactions.* A transaction's body reads the values in memory, and its changes are made if no other client has
/// changed any value that it has read. Otherwise, the body runs again on the current values, so it should do nothing
/// but read and change values. No change is lost or made twice, even if etcd's answer is lost.
///
/// *While etcd is unavailable.* Reads return the last known values, or those of the snapshot if the program was started
/// meanwhile. `state` and an error in `errors` have the reason. Writes throw. If the answer to a write was lost, the
/// error says that the change may have been made. The store tries to reach etcd at least every five seconds, and then
/// reports what has changed.
///
/// *Limits.* One transaction changes at most 127 keys, unless etcd has another limit, or removes all. All values are in
/// memory. Keys that one transaction creates are in alphabetical order, and not in the order in which it wrote them.
public final class EtcdPreferenceStore: CustomPreferenceStore {
  private let connection: EtcdConnection
  private let follower: Follower

  /// Opens a store for the keys in etcd that begin with a prefix.
  ///
  /// If etcd isn't available, the store has the values of the snapshot, and `state` has the reason. If etcd is
  /// available and the snapshot can't be read, the snapshot is moved away, and `snapshotFailure` has the reason.
  ///
  /// - Parameters:
  ///   - cluster: The addresses of etcd.
  ///   - prefix: The beginning of the keys in etcd, such as `/shop/settings/`.
  ///   - snapshot: A file of this process, in which the store keeps the values for a start without etcd. It is a preferences
  ///     file, which `prefs` shows.
  ///   - startLimit: The time to wait for etcd.
  /// - Throws: `.invalidKey` if the prefix is empty; `.unreadable` if a certificate can't be read; an error of
  ///   `FilePreferenceStore` if the snapshot can't be opened, and etcd isn't available or others can write to the snapshot's
  ///   folder.
  public init(
    _ cluster: EtcdCluster, prefix: String, snapshot: URL? = nil, startLimit: Duration = .seconds(2)
  ) throws(PreferenceError) {
    guard let range = KeyRange(prefix: prefix) else {
      throw PreferenceError(.invalidKey, "the prefix of the keys in etcd is empty; name one, such as /shop/settings/")
    }
    let client = try EtcdClient(cluster)
    let end = NIODeadline.now() + TimeAmount(startLimit)
    var file: Snapshot?
    if let snapshot { file = try Snapshot(at: snapshot) { client.canRead(range, until: end) } }
    connection = EtcdConnection(client: client, range: range, values: LocalValues(snapshot: file))
    follower = Follower(connection)
    do throws(EtcdError) {
      _ = try connection.load(until: end)
      connection.values.arrive()
    } catch {
      connection.values.leave(error.whenReading)
    }
    follower.begin()
  }

  deinit { follower.stop() }

  /// The state of the store: whether its values are etcd's current values, and whether etcd accepts changes.
  public var state: EtcdState { connection.values.state }

  /// The reason why the snapshot couldn't be read when the store was opened, with the file's new place; nil if it could
  /// be read.
  public var snapshotFailure: PreferenceError? { connection.values.snapshotFailure }

  /// The hub, with the queue of this process's writers and the listeners.
  public var hub: PreferenceHub { connection.values.hub }

  /// The keys, in the order in which any machine first wrote them.
  public var keys: [String] { connection.values.replica.keys }

  /// Returns the value as JSON text from memory, or nil if there is none.
  public func json(forKey key: String) -> String? { connection.values.json(forKey: key) }

  /// Makes the changes in etcd in one transaction, regardless of the current values.
  public func write(_ changes: [PreferenceChange]) throws(PreferenceError) {
    var found: Set<String> = []
    do {
      try attempts(
        { transaction in for change in changes { try transaction.set(json: change.json, forKey: change.key) } }, &found)
    } catch {
      throw error as? PreferenceError ?? PreferenceError(.unwritable, "the change was not made", underlying: error)
    }
  }

  /// Reads and changes several values in one transaction.
  ///
  /// The body runs again if another machine has changed a value that it has read.
  ///
  /// - Throws: Any error of the body; `.unwritable` or `.noSpace` if etcd can't make the changes; `.busy` if others kept
  ///   changing the same values until the cluster's `retryLimit`.
  public func transaction<Result>(
    _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try hub.write { () throws(PreferenceError) in
      var changed: Set<String> = []
      do {
        result = .success(try attempts(body, &changed))
      } catch {
        result = .failure(error)
      }
      return changed
    }
    return try result!.get()
  }

  /// Runs the body until its changes are made.
  ///
  /// - Parameter changed: Receives the keys whose values have changed.
  private func attempts<Result>(
    _ body: (inout PreferenceTransaction) throws -> Result, _ changed: inout Set<String>
  ) throws -> Result {
    let end = NIODeadline.now() + TimeAmount(connection.client.cluster.retryLimit)
    while true {
      let begin = NIODeadline.now()
      let attempt = TransactionAttempt(on: connection.values.replica)
      var transaction = PreferenceTransaction(on: attempt)
      let result = try body(&transaction)
      let changes = transaction.changes
      if changes.isEmpty { return result }
      do throws(EtcdError) {
        let outcome = try connection.commit(changes, having: attempt.reads, of: attempt.values, until: end)
        changed.formUnion(outcome.changed)
        if outcome.isDone {
          connection.values.noteWrite()
          return result
        }
        if NIODeadline.now() >= end {
          throw EtcdError(
            .contended,
            "the change was not made, since others changed the same values for longer than the retryLimit; make fewer"
              + " changes at once or set a longer one")
        }
      } catch {
        if error.isOfEveryChange { connection.values.noteRefusal(error.whenWriting) }
        throw error.whenWriting
      }
      // Machines that change the same value pause before they try again. The pause doesn't depend on the number of failed
      // attempts, so none of them is always too late.
      Thread.sleep(forTimeInterval: Double((.now() - begin).nanoseconds) / 1e9 * .random(in: 0...6))
    }
  }

  /// Reads all values from etcd.
  ///
  /// - Throws: `.unreadable` if etcd doesn't answer.
  public func reload() throws(PreferenceError) {
    try hub.write { () throws(PreferenceError) in
      do throws(EtcdError) {
        return try connection.load().changed
      } catch {
        throw error.whenReading
      }
    }
  }

  /// The errors that couldn't be thrown to a caller.
  ///
  /// The first elements are the reason why the snapshot was moved away, if it was, and the reason why etcd isn't
  /// available, if it isn't.
  public var errors: AsyncStream<PreferenceError> { connection.values.errors }
}

/// A copy of the values for one run of a transaction's body, which records the keys that the body reads.
private final class TransactionAttempt: CustomPreferenceStore {
  let hub = PreferenceHub()
  let values: Replica
  private let noted = Mutex(EtcdConnection.Reads())

  init(on values: Replica) { self.values = values }

  var reads: EtcdConnection.Reads { noted.withLock { $0 } }

  var keys: [String] {
    noted.withLock { $0.areAll = true }
    return values.keys
  }

  func json(forKey key: String) -> String? {
    noted.withLock { _ = $0.keys.insert(key) }
    return values.entries[key]?.json
  }

  /// Does nothing, because the changes of the transaction are made in etcd.
  func write(_ changes: [PreferenceChange]) {}
}
