internal import Foundation
internal import NIOCore
internal import PreferenceStorage

/// The keys in etcd that belong to a store, and the store's local copy of their values.
///
/// A change is one transaction of etcd. The transaction also writes the name of the change to the key that consists of the
/// prefix alone. This lets a comparison of the whole range notice removals, and lets the store find out whether a change was
/// made if the answer was lost.
struct EtcdConnection: Sendable {
  let client: EtcdClient
  let range: KeyRange
  let values: LocalValues

  /// The values that the body of a transaction has read.
  struct Reads {
    var keys: Set<String> = []
    var areAll = false
  }

  /// The outcome of a transaction.
  struct Outcome {
    /// Whether the transaction was made; if not, others have changed values that it has read, and `values` has the current ones.
    var isDone: Bool
    var changed: Set<String>
  }

  /// Reads all values; returns the keys that changed, and the revision of the answer.
  func load(until end: NIODeadline? = nil) throws(EtcdError) -> (changed: Set<String>, revision: Revision) {
    let known = values.replica.newest
    let response: RangeResponse = try client.call(
      "kv/range", RangeRequest(key: range.start, rangeEnd: range.end), until: end)
    let header = response.header ?? ResponseHeader()
    let entries = entries(in: response)
    return (values.update { $0.load(entries, header, knownBefore: known) }, header.revision ?? .none)
  }

  /// Returns the newest revision in etcd, which changes of other keys also raise.
  func currentRevision(until end: NIODeadline) throws(EtcdError) -> Revision {
    // A read of a key makes sure that the member that answers isn't behind the others.
    let request = RangeRequest(key: range.start, countOnly: true)
    let response: RangeResponse = try client.call("kv/range", request, until: end)
    return response.header?.revision ?? .none
  }

  /// Finds out whether etcd accepts changes, without making one, and notes the result.
  func tryWriting(until end: NIODeadline) {
    let mark = TransactionRequest.Operation.put(.init(key: range.start, value: Data()))
    let request = TransactionRequest(compare: [.never(range.start)], success: [mark])
    do throws(EtcdError) {
      let _: TransactionResponse = try client.call("kv/txn", request, until: end)
      values.noteWrite()
    } catch {
      // Other code notes whether etcd is available.
      if error.isOfEveryChange { values.noteRefusal(error.whenWriting) }
    }
  }

  /// Makes changes, unless another client has changed the values that they depend on.
  ///
  /// - Parameters:
  ///   - reads: The keys that the body of the transaction has read, including keys that it changes.
  ///   - old: The values that the body read.
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

  /// The maximum number of keys that are compared one by one; by default, etcd accepts 128 comparisons.
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
      // This removes any number of keys, including keys that another client has just added.
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

  /// Puts the values that a failed transaction has read instead into the local copy.
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

  /// Searches for the change with a name, and returns its revision; nil if the change wasn't made.
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
    // If the change was made, other clients have made later ones, so only the history has it.
    do throws(EtcdError) {
      return try historicalRevision(of: name, after: old, until: last)
    } catch {
      throw EtcdError(.uncertain, "the change isn't the last one, and the history can't be read: \(error)")
    }
  }

  /// Searches etcd's history for the change with a name.
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

  /// The preferences in an answer.
  private func entries(in response: RangeResponse) -> [(key: String, entry: Replica.Entry)] {
    (response.kvs ?? []).compactMap { entry($0) }
  }

  /// Applies the events of a watch, and returns the keys that changed.
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

  /// Returns the preference in a pair of etcd; nil if the key isn't a preference's.
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

/// A name that no other change has.
struct ChangeName: Sendable {
  let bytes: Data

  static func random() -> ChangeName { ChangeName(bytes: Data(UUID().uuidString.utf8)) }
}
