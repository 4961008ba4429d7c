import EtcdPreferences
import Foundation
import PreferenceStorage
import SpellTesting
import Testing

extension EtcdTests {
  @Suite("The store in etcd")
  struct ContractTests {
    static let everyCheck = PreferenceStoreSuite.checks + PreferenceStoreSuite.lastingChecks

    @Test("keeps the contract of preference stores", arguments: everyCheck)
    func contract(check: PreferenceStoreSuite.Check) async throws {
      let cluster = try await EtcdNodes.shared.value.cluster
      let prefix = "/\(UUID().uuidString)/"
      await check.run(reopening: { try EtcdPreferenceStore(cluster, prefix: prefix) }) {
        try EtcdPreferenceStore(cluster, prefix: prefix)
      }
    }
  }
}
