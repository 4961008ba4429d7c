import EtcdPreferences
import Foundation
import PreferenceStorage
import Synchronization
import Testing

extension EtcdTests {
  @Suite("A cluster of three")
  struct ThreeMembersTests {
    @Test("goes on without its leader, loses no update, and has it back")
    func leaderEnds() async throws {
      let nodes = try await EtcdNodes(3)
      var cluster = nodes.cluster
      let leader = try nodes.leader()
      // Both stores ask the leader first, so the leader's end interrupts both the watch and the updates.
      cluster.endpoints.swapAt(0, leader)
      let (writer, reader) = (try store(cluster), try store(cluster))
      var changes = reader.changes(of: "count").makeAsyncIterator()
      try add(to: writer)
      _ = await changes.next()

      let isOver = Flag()
      async let updates = onThread {
        var count = 1
        while !isOver.isSet {
          try add(to: writer)
          count += 1
        }
        return count
      }
      try await readChanges(20, from: &changes, of: reader)
      nodes.kill(leader)
      let before = try reader.value(Int.self, forKey: "count") ?? 0
      try await readChanges(before + 20, from: &changes, of: reader)
      isOver.set()
      let count = try await updates
      #expect(try writer.value(Int.self, forKey: "count") == count)
      try await readChanges(count, from: &changes, of: reader)
      #expect(reader.state.isConnected)

      try nodes.start(leader)
      try await nodes.waitUntilServing(leader)
      let returned = try store(EtcdCluster(endpoints: [nodes.endpoint(leader)]))
      #expect(try returned.value(Int.self, forKey: "count") == count)
      try add(to: returned)
      try await readChanges(count + 1, from: &changes, of: reader)
    }

    @Test("is away without its majority, which isn't taken for an answer, and back with it")
    func majorityEnds() async throws {
      let nodes = try await EtcdNodes(3)
      var cluster = EtcdCluster(endpoints: [nodes.endpoint(0)])
      cluster.silenceLimit = .milliseconds(200)
      let store = try store(cluster)
      try add(to: store)
      nodes.kill(1)
      nodes.kill(2)
      try await eventually("the store knows") { !store.state.isConnected }
      #expect(try store.value(Int.self, forKey: "count") == 1)
      #expect(throws: PreferenceError.self) { try add(to: store) }
      #expect(try store.value(Int.self, forKey: "count") == 1)
      try nodes.start(1)
      try await eventually("the store is connected", within: .seconds(90)) { store.state.isConnected }
      let before = try store.value(Int.self, forKey: "count") ?? 0
      try add(to: store)
      #expect(try store.value(Int.self, forKey: "count") == before + 1)
    }

    private func store(_ cluster: EtcdCluster) throws -> EtcdPreferenceStore {
      try EtcdPreferenceStore(cluster, prefix: "/settings/", startLimit: .seconds(30))
    }

    /// Reads changes until the stored count has at least this value.
    private func readChanges(
      _ count: Int, from changes: inout PreferenceChanges.Iterator, of store: EtcdPreferenceStore
    ) async throws {
      while try store.value(Int.self, forKey: "count") ?? 0 < count {
        _ = try #require(await changes.next())
      }
    }
  }
}

private func add(to store: EtcdPreferenceStore) throws {
  try store.transaction { try $0.set(($0.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count") }
}

/// A flag that one thread sets once and another thread reads.
private final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
