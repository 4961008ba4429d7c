import Testing

@testable import EtcdPreferences

@Suite("The values that a store has of etcd's") struct ReplicaTests {
  /// A change to a key in etcd, with the new value (nil for a removal) and the revision of the change.
  typealias Change = (key: String, json: String?, revision: Int64)

  private let history: [Change] = [
    ("a", "1", 2), ("b", "1", 3), ("a", "2", 4), ("b", nil, 5), ("c", "1", 6), ("a", nil, 7), ("a", "3", 8),
  ]

  private func apply(_ change: Change, to replica: inout Replica) -> Bool {
    let revision = Revision(change.revision)
    let entry = change.json.map { Replica.Entry(json: $0, created: revision, modified: revision) }
    return replica.apply(entry, to: change.key, at: revision)
  }

  private func values(_ replica: Replica) -> [String: String] { replica.entries.mapValues(\.json) }

  @Test("are the last ones, in whatever order the changes come, and however often")
  func order() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var replica = Replica()
      for change in (history + history).shuffled(using: &generator) { _ = apply(change, to: &replica) }
      #expect(values(replica) == ["a": "3", "c": "1"])
    }
  }

  @Test("keep a change that is later than what is read of all")
  func readFromBefore() {
    var replica = Replica()
    for change in history { _ = apply(change, to: &replica) }
    let old = [(key: "b", entry: Replica.Entry(json: "1", created: Revision(3), modified: Revision(3)))]
    let changed = replica.load(old, ResponseHeader(clusterId: "1", revision: Revision(3)), knownBefore: .none)
    #expect(changed.isEmpty)
    #expect(values(replica) == ["a": "3", "c": "1"])
  }

  @Test("don't come back by a late answer after their removal")
  func lateAnswer() {
    var replica = Replica()
    for change in history { _ = apply(change, to: &replica) }
    replica.advance(to: Revision(8))
    let removed = Replica.Entry(json: "1", created: Revision(3), modified: Revision(3))
    let changed = replica.load(
      [(key: "b", entry: removed)], ResponseHeader(clusterId: "1", revision: Revision(4)), knownBefore: .none)
    #expect(changed.isEmpty)
    let isApplied = replica.apply(removed, to: "b", at: Revision(4))
    #expect(!isApplied)
    #expect(values(replica) == ["a": "3", "c": "1"])
  }

  @Test("are replaced by a read of all that is later, which tells what is another now")
  func readFromLater() {
    var replica = Replica()
    for change in history { _ = apply(change, to: &replica) }
    let now = [
      (key: "a", entry: Replica.Entry(json: "3", created: Revision(8), modified: Revision(9))),
      (key: "d", entry: Replica.Entry(json: "1", created: Revision(9), modified: Revision(9))),
    ]
    let changed = replica.load(now, ResponseHeader(clusterId: "1", revision: Revision(9)), knownBefore: replica.newest)
    #expect(changed == ["c", "d"])
    #expect(replica.keys == ["a", "d"])
    #expect(replica.revision == Revision(9))
  }

  @Test("begin again with a cluster whose history is another one or a shorter one", arguments: ["1", "2"])
  func restoredCluster(cluster: String) {
    var replica = Replica()
    _ = replica.load([], ResponseHeader(clusterId: "1", revision: Revision(1)), knownBefore: .none)
    for change in history { _ = apply(change, to: &replica) }
    let restored = [(key: "a", entry: Replica.Entry(json: "1", created: Revision(2), modified: Revision(2)))]
    let header = ResponseHeader(clusterId: cluster, revision: Revision(cluster == "1" ? 2 : 20))
    #expect(replica.load(restored, header, knownBefore: replica.newest) == ["a", "c"])
    #expect(values(replica) == ["a": "1"])
    #expect(replica.modified("a") == Revision(2))
  }

  @Test("of a snapshot are older than any of etcd's, and have its order")
  func snapshot() {
    var replica = Replica(snapshot: [("b", "1"), ("a", "1")])
    #expect(replica.keys == ["b", "a"])
    #expect(apply(("a", "2", 2), to: &replica))
    #expect(!apply(("b", "1", 3), to: &replica))
    #expect(replica.keys == ["a", "b"])
  }

  @Test("keep the order of first writing through the store's own changes")
  func creation() {
    var replica = Replica()
    for (index, key) in ["b", "a"].enumerated() {
      let isNew = replica.commit("1", to: key, at: Revision(Int64(index + 2)))
      #expect(isNew)
    }
    _ = replica.commit("2", to: "b", at: Revision(4))
    #expect(replica.keys == ["b", "a"])
    _ = replica.commit(nil, to: "b", at: Revision(5))
    _ = replica.commit("3", to: "b", at: Revision(6))
    #expect(replica.keys == ["a", "b"])
  }
}
