import Foundation
import PreferenceStorage
import Testing

@testable import EtcdPreferences

extension EtcdTests {
  @Suite("A change that etcd doesn't take")
  struct RefusalTests {
    let prefix = "/\(UUID().uuidString)/"

    @Test("as it is too large isn't sent, and one that is as large as the limit is made")
    func tooLarge() async throws {
      let proxy = try await Proxy(to: EtcdNodes.shared.value.port(0))
      var cluster = try await EtcdNodes.shared.value.cluster
      cluster.endpoints = [proxy.endpoint]
      let store = try EtcdPreferenceStore(cluster, prefix: prefix)
      // Without a connection, only the size can be the reason for the error.
      proxy.cut()
      let error = #expect(throws: PreferenceError.self) {
        try store.set(String(repeating: "a", count: cluster.requestSizeLimit), forKey: "a")
      }
      #expect(error?.code == .unwritable)
      #expect(error?.description.contains("etcd takes 1572864 at most") == true, "\(error as Any)")

      // The computed size is at least the size that etcd measures, and not much larger.
      let key = Data((prefix + "a").utf8)
      func request(_ length: Int) -> TransactionRequest {
        TransactionRequest(
          compare: [.unchanged(key, since: .none)], success: [.put(.init(key: key, value: Data(count: length)))],
          failure: [.range(RangeRequest(key: key))])
      }
      let largest = cluster.requestSizeLimit - request(0).size
      #expect(largest > cluster.requestSizeLimit - 1000)
      #expect(request(largest).size == cluster.requestSizeLimit)
      let client = try await EtcdNodes.shared.value.client(0)
      let response: TransactionResponse = try client.call("kv/txn", request(largest))
      #expect(response.succeeded == true)
      #expect(throws: EtcdError.self) {
        let _: TransactionResponse = try client.call("kv/txn", request(largest + 1000))
      }
      try client.delete(prefix + "a")
    }

    @Test("as it has no space is told by the state, until etcd has space again")
    func full() async throws {
      var cluster = try await EtcdNodes.shared.value.cluster
      cluster.silenceLimit = .milliseconds(100)
      let store = try EtcdPreferenceStore(cluster, prefix: prefix)
      try store.set(1, forKey: "a")
      #expect(store.state.description == "connected")
      let client = try await EtcdNodes.shared.value.client(0)
      try client.setAlarm(true)
      let error = #expect(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
      #expect(error?.code == .noSpace)
      #expect(store.state.description.hasPrefix("read only: etcd has no space"), "\(store.state)")
      #expect(store.state.isConnected)
      #expect(try store.value(Int.self, forKey: "a") == 1)
      try client.setAlarm(false)
      try await eventually("the state is as before") { store.state.description == "connected" }
      try store.set(2, forKey: "a")
    }
  }
}
