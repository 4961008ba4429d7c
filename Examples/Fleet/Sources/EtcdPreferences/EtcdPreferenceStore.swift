public import Foundation
internal import NIOCore
public import PreferenceStorage
internal import Synchronization

/// A preference store whose values are in etcd, for settings that several machines share.
///
/// ```swift
/// let store = try EtcdPreferenceStore(
///   EtcdCluster(endpoints: [URL(string: "http://127.0.0.1:2379")!]), prefix: "/shop/settings/",
///   snapshot: URL(filePath: "/var/lib/shop/settings.preferences"))
/// registry.register((any PreferenceStore).self, .instance(store))
/// ```
///
/// A value is JSON text, and its key in etcd is the prefix followed by the preference's key. The command
/// `etcdctl put /shop/settings/greeting '"hello"'` sets a value.
///
/// *When the work happens.* Creating the store reads all values from etcd once. Later reads are from memory. A write is
/// one request, which blocks its own thread and no other thread of the program. When the write returns, a majority of
/// the cluster has the change. A change by another machine arrives through etcd's watch, some milliseconds later.
///
/// *Transactions.* A transaction's body reads the values in memory. Its changes are made only if no other client has
/// changed a value that the body has read. Otherwise, the body runs again with the current values, so it should do
/// nothing but read and change values. No change is lost or made twice, even if etcd's answer is lost.
///
/// *While etcd is unavailable.* Reads return the last known values, or the snapshot's values if the program was started
/// without etcd. `state` and an error in `errors` have the reason. Writes throw an error. If etcd's answer to a write
/// was lost, the error says that the change may have been made. The store tries to reach etcd at least every five
/// seconds, and reports the changed values when etcd is available again.
///
/// *Limits.* One transaction can change at most 127 keys, unless etcd is set to another limit. Removing all keys has no
/// limit. All values are in memory. Keys that one transaction creates are in alphabetical order, even if the
/// transaction wrote them in another order.
public final class EtcdPreferenceStore: CustomPreferenceStore {
  private let connection: EtcdConnection
  private let follower: Follower

  /// Opens a store for the keys in etcd that begin with a prefix.
  ///
  /// If etcd isn't available, the store has the values of the snapshot, and `state` has the reason. If etcd is
  /// available and the snapshot can't be read, the snapshot is moved away, and `snapshotFailure` has the reason.
  ///
  /// - Parameters:
  ///   - cluster: The addresses of etcd's members, and the connection settings.
  ///   - prefix: The beginning of the keys in etcd, such as `/shop/settings/`.
  ///   - snapshot: A preferences file, in which the store keeps the values for a start without etcd. The file belongs
  ///     to this process. The tool `prefs` can show the file.
  ///   - startLimit: The time to wait for etcd's first answer.
  /// - Throws: `.invalidKey` if the prefix is empty. `.unreadable` if a certificate can't be read. An error of
  ///   `FilePreferenceStore` if the snapshot can't be opened, and either etcd isn't available or other users can write
  ///   to the snapshot's folder.
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

  /// The state of the store, which says whether its values are etcd's current values and whether etcd accepts changes.
  public var state: EtcdState { connection.values.state }

  /// The reason that the snapshot couldn't be read when the store was opened, or nil if it could be read.
  ///
  /// The error also names the path to which the file was moved.
  public var snapshotFailure: PreferenceError? { connection.values.snapshotFailure }

  /// The hub, which orders this process's writers and notifies observers of changes.
  public var hub: PreferenceHub { connection.values.hub }

  /// The keys, in the order in which they were first written by any machine.
  public var keys: [String] { connection.values.replica.keys }

  /// Returns the value of a key from memory as JSON text, or nil if the key has no value.
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
  /// The body runs again if another machine has changed a value that the body has read.
  ///
  /// - Throws: Any error of the body. `.unwritable` or `.noSpace` if etcd can't make the changes. `.busy` if other
  ///   clients kept changing the same values until the cluster's `retryLimit`.
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

  /// Runs a transaction's body, repeatedly if necessary, until etcd has made its changes or an error occurs.
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
      // Machines that change the same value pause for a random time before their next attempt. The pause doesn't depend
      // on the number of failed attempts, so no machine is always too late.
      Thread.sleep(forTimeInterval: Double((.now() - begin).nanoseconds) / 1e9 * .random(in: 0...6))
    }
  }

  /// Reads all values from etcd now, without waiting for the watch to report changes.
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
  /// If the snapshot was moved away, or etcd isn't available, the stream begins with the reasons.
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
