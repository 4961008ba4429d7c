internal import Foundation
internal import NIOCore
internal import PreferenceStorage

/// A connection between a store's keys in etcd and the store's local copy of their values.
///
/// A change is one transaction in etcd. The transaction also writes a unique name for the change (`ChangeName`) to the
/// key that consists of the prefix alone. Because of this write, a comparison of the whole range notices removals. If
/// etcd's answer is lost, the name shows whether the change was made.
struct EtcdConnection: Sendable {
  let client: EtcdClient
  let range: KeyRange
  let values: LocalValues

  /// The keys that a transaction's body has read.
  struct Reads {
    var keys: Set<String> = []
    var areAll = false
  }

  /// The outcome of a transaction.
  struct Outcome {
    /// Whether etcd made the changes.
    ///
    /// If not, other clients have changed values that the transaction has read, and the local copy has these values.
    var isDone: Bool
    var changed: Set<String>
  }

  /// Reads all values from etcd, and returns the keys that changed and the revision of etcd's answer.
  func load(until end: NIODeadline? = nil) throws(EtcdError) -> (changed: Set<String>, revision: Revision) {
    let known = values.replica.newest
    let response: RangeResponse = try client.call(
      "kv/range", RangeRequest(key: range.start, rangeEnd: range.end), until: end)
    let header = response.header ?? ResponseHeader()
    let entries = entries(in: response)
    return (values.update { $0.load(entries, header, knownBefore: known) }, header.revision ?? .none)
  }

  /// Returns the newest revision in etcd, which is also raised by changes to other stores' keys.
  func currentRevision(until end: NIODeadline) throws(EtcdError) -> Revision {
    // Reading a key guarantees that the answering member isn't behind the other members.
    let request = RangeRequest(key: range.start, countOnly: true)
    let response: RangeResponse = try client.call("kv/range", request, until: end)
    return response.header?.revision ?? .none
  }

  /// Finds out whether etcd accepts changes, without making a change, and records the result in the store's state.
  func tryWriting(until end: NIODeadline) {
    let mark = TransactionRequest.Operation.put(.init(key: range.start, value: Data()))
    let request = TransactionRequest(compare: [.never(range.start)], success: [mark])
    do throws(EtcdError) {
      let _: TransactionResponse = try client.call("kv/txn", request, until: end)
      values.noteWrite()
    } catch {
      // Only refusals are recorded, because the `Follower` records whether etcd is available.
      if error.isOfEveryChange { values.noteRefusal(error.whenWriting) }
    }
  }

  /// Makes changes in etcd, unless another client has changed values that the changes depend on.
  ///
  /// - Parameters:
  ///   - reads: The keys that the transaction's body has read, including the keys that the body changes.
  ///   - old: The local copy from which the body has read.
  func commit(
    _ changes: [PreferenceChange], having reads: Reads, of old: Replica, until end: NIODeadline
  ) throws(EtcdError) -> Outcome {
    let name = ChangeName.random()
    let keys = reads.areAll || reads.keys.count > EtcdConnection.comparisonLimit ? nil : reads.keys.sorted()
    let request = request(for: changes, by: name, having: keys, of: old)
    try check(request)
    let answer: EtcdClient.Answer<TransactionResponse> = try client.send("kv/txn", request, until: end)
    let response = answer.message
    if response.succeeded == true {
      return Outcome(isDone: true, changed: keep(changes, at: response.header.revision ?? .none))
    }
    // If an earlier attempt has made the changes, the comparisons fail, so the changes aren't made twice.
    let own = answer.isOfRepetition ? try revision(of: name, after: old.newest, response) : nil
    var changed: Set<String> = []
    if let own { changed = keep(changes, at: own) }
    return Outcome(
      isDone: own != nil, changed: changed.union(take(response, having: keys, knownBefore: old.newest)))
  }

  private func check(_ request: TransactionRequest) throws(EtcdError) {
    let limit = client.cluster.requestSizeLimit
    guard request.size > limit else { return }
    throw EtcdError(
      .tooLarge,
      "the change was not made, since it has \(request.size) bytes, and etcd takes \(limit) at most; keep what is large in a"
        + " file or a database, and its place here, or set both `etcd --max-request-bytes` and the requestSizeLimit")
  }

  /// The maximum number of keys to compare one by one, below the 128 comparisons that etcd accepts by default.
  private static let comparisonLimit = 100

  private func request(
    for changes: [PreferenceChange], by name: ChangeName, having keys: [String]?, of old: Replica
  ) -> TransactionRequest {
    var request = TransactionRequest(success: operations(for: changes, in: old, by: name))
    guard let keys else {
      request.compare = [.unchanged(range, since: old.revision)]
      request.failure = [.range(RangeRequest(key: range.start, rangeEnd: range.end))]
      return request
    }
    request.compare = keys.map { .unchanged(range.key(for: $0), since: old.modified($0)) }
    request.failure = (keys.map { range.key(for: $0) } + [range.start]).map { .range(RangeRequest(key: $0)) }
    return request
  }

  private func operations(
    for changes: [PreferenceChange], in old: Replica, by name: ChangeName
  ) -> [TransactionRequest.Operation] {
    let mark = TransactionRequest.Operation.put(.init(key: range.start, value: name.bytes))
    if changes.count > 1, changes.allSatisfy({ $0.json == nil }), Set(changes.map(\.key)) == Set(old.entries.keys) {
      // Deleting the range removes any number of keys, including keys that another client has just added.
      return [.delete(.init(key: range.firstValue, rangeEnd: range.end)), mark]
    }
    return [mark]
      + changes.map { change in
        let key = range.key(for: change.key)
        return change.json.map { .put(.init(key: key, value: Data($0.utf8))) } ?? .delete(.init(key: key))
      }
  }

  private func keep(_ changes: [PreferenceChange], at revision: Revision) -> Set<String> {
    values.update { replica in
      Set(changes.filter { replica.commit($0.json, to: $0.key, at: revision) }.map(\.key))
    }
  }

  /// Updates the local copy with the values that a failed transaction returns, and returns the keys that changed.
  private func take(
    _ response: TransactionResponse, having keys: [String]?, knownBefore known: Revision
  ) -> Set<String> {
    let answers = (response.responses ?? []).map { $0.responseRange ?? RangeResponse() }
    let read = response.header.revision ?? .none
    guard let keys else {
      let all = answers.flatMap { entries(in: $0) }
      return values.update { $0.load(all, response.header, knownBefore: known) }
    }
    return values.update { replica in
      Set(zip(keys, answers).filter { replica.apply(entries(in: $1).first?.entry, to: $0, at: read) }.map(\.0))
    }
  }

  /// Searches etcd for the change with a name, and returns its revision, or nil if the change wasn't made.
  ///
  /// - Parameters:
  ///   - old: A revision before the change.
  ///   - response: The answer to the failed transaction, with the name of the last change.
  private func revision(
    of name: ChangeName, after old: Revision, _ response: TransactionResponse
  ) throws(EtcdError) -> Revision? {
    let pairs = (response.responses ?? []).flatMap { $0.responseRange?.kvs ?? [] }
    guard let mark = pairs.first(where: { $0.key == range.start }), let last = mark.modRevision, last > old else {
      return nil
    }
    if mark.value == name.bytes { return last }
    // Another client has made a later change, so only etcd's history shows whether this change was made.
    do throws(EtcdError) {
      return try historicalRevision(of: name, after: old, until: last)
    } catch {
      throw EtcdError(.uncertain, "the change isn't the last one, and the history can't be read: \(error)")
    }
  }

  /// Searches etcd's history for the change with a name, and returns its revision, or nil if it isn't found.
  private func historicalRevision(
    of name: ChangeName, after old: Revision, until last: Revision
  ) throws(EtcdError) -> Revision? {
    let history = try client.watch(range, from: old.next)
    defer { history.stop() }
    while case .message(let message) = try history.next(within: client.cluster.requestLimit) {
      if message.canceled == true {
        throw EtcdError(.uncertain, "the part of etcd's history is compacted in which the change may be")
      }
      let marks = (message.events ?? []).map(\.kv).filter { $0.key == range.start }
      if let own = marks.first(where: { $0.value == name.bytes }) { return own.modRevision }
      if let seen = marks.compactMap(\.modRevision).max(), seen >= last { return nil }
    }
    throw EtcdError(.uncertain, "the part of etcd's history doesn't come in which the change may be")
  }

  /// Returns the preferences in an answer.
  private func entries(in response: RangeResponse) -> [(key: String, entry: Replica.Entry)] {
    (response.kvs ?? []).compactMap { entry($0) }
  }

  /// Applies the events of a watch to the local copy, and returns the keys that changed.
  func apply(_ events: [WatchMessage.Event]) -> Set<String> {
    values.update { replica in
      var changed: Set<String> = []
      for event in events {
        guard let key = range.preference(for: event.kv.key), let revision = event.kv.modRevision else { continue }
        if replica.apply(event.isRemoval ? nil : entry(event.kv)?.entry, to: key, at: revision) { changed.insert(key) }
      }
      if let last = events.compactMap(\.kv.modRevision).max() { replica.advance(to: last) }
      return changed
    }
  }

  /// Returns the preference in a key-value pair from etcd, or nil if the key isn't a preference's key.
  private func entry(_ pair: KeyValue) -> (key: String, entry: Replica.Entry)? {
    guard let key = range.preference(for: pair.key) else { return nil }
    return (
      key,
      Replica.Entry(
        json: String(decoding: pair.value ?? Data(), as: UTF8.self), created: pair.createRevision ?? .none,
        modified: pair.modRevision ?? .none)
    )
  }
}

/// A unique name for a change, by which the store recognizes the change if etcd's answer is lost.
struct ChangeName: Sendable {
  let bytes: Data

  static func random() -> ChangeName { ChangeName(bytes: Data(UUID().uuidString.utf8)) }
}
