import Foundation
import PreferenceStorage
import Testing

@testable import EtcdPreferences

extension EtcdTests {
  @Suite("TLS and users", .enabled(if: Certificates.canBeMade, "openssl is not installed"))
  struct SecurityTests {
    @Test("are asked for, and a store that has them reads, writes and follows, and one that hasn't says why not")
    func security() async throws {
      let certificates = try Certificates()
      let tls = EtcdCluster.TLS(
        certificateAuthority: certificates.file("ca.pem"), certificate: certificates.file("node.pem"),
        privateKey: certificates.file("node.key"))
      let nodes = try await EtcdNodes(
        1,
        options: [
          "--cert-file", certificates.file("node.pem").path, "--key-file", certificates.file("node.key").path,
          "--trusted-ca-file", certificates.file("ca.pem").path, "--client-cert-auth",
        ], tls: tls)
      try nodes.client(0).enableUsers()

      var cluster = nodes.cluster
      cluster.user = .init("root", password: "secret of root")
      let store = try EtcdPreferenceStore(cluster, prefix: "/readable/")
      #expect(store.state.isConnected, "\(store.state)")
      let other = try EtcdPreferenceStore(cluster, prefix: "/readable/")
      var changes = other.changes().makeAsyncIterator()
      try store.transaction { try $0.set(1, forKey: "a") }
      #expect(await changes.next() == ["a"])

      // The user `reader` may only read keys that begin with `/readable/`.
      cluster.user = .init("reader", password: "secret of reader")
      let reading = try EtcdPreferenceStore(cluster, prefix: "/readable/")
      #expect(try reading.value(Int.self, forKey: "a") == 1)
      let refusal = #expect(throws: PreferenceError.self) { try reading.set(2, forKey: "a") }
      #expect(refusal?.code == .unwritable)
      #expect(refusal?.description.contains("permission denied") == true)
      #expect(reading.state.isConnected)
      #expect(reading.state.description.hasPrefix("read only: "), "\(reading.state)")
      try expectAway(cluster, prefix: "/other/", because: "permission denied")

      cluster.user = .init("root", password: "wrong")
      try expectAway(cluster, because: "authentication failed")
      cluster.user = nil
      try expectAway(cluster, because: "permission denied")

      cluster.tls = nil
      try expectAway(cluster, because: "name the file of the right one: EtcdCluster.TLS(certificateAuthority: …)")
      let others = try Certificates()
      cluster.tls = .init(certificateAuthority: others.file("ca.pem"))
      try expectAway(cluster, because: "name the file of the right one: EtcdCluster.TLS(certificateAuthority: …)")
      cluster.tls = .init(certificateAuthority: certificates.file("ca.pem"))
      try expectAway(cluster, because: "name its files: EtcdCluster.TLS(certificate: …, privateKey: …)")
      cluster.endpoints = [URL(string: "http://127.0.0.1:\(nodes.port(0))")!]
      try expectAway(cluster, because: "because it speaks TLS, its address begins with https://")
    }

    @Test("aren't spoken by a member whose address says so")
    func noTLS() async throws {
      let port = try await EtcdNodes.shared.value.port(0)
      let cluster = EtcdCluster(endpoints: [URL(string: "https://127.0.0.1:\(port)")!])
      try expectAway(cluster, because: "because it doesn't speak TLS, its address begins with http://")
    }

    private func expectAway(_ cluster: EtcdCluster, prefix: String = "/readable/", because reason: String) throws {
      let store = try EtcdPreferenceStore(cluster, prefix: prefix)
      #expect(!store.state.isConnected)
      #expect(store.state.description.contains(reason), "\(store.state)")
    }
  }
}

/// Certificates for one test, one for an authority and one for a server on this machine.
///
/// The client also uses the server's certificate. This certificate has no common name, because etcd's gateway refuses a
/// client certificate with a common name if etcd has users.
private final class Certificates: Sendable {
  static var canBeMade: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") }

  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "etcd-certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-ec",
      """
      exec 2> log
      openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=authority -days 2 -keyout ca.key -out ca.pem
      openssl req -newkey rsa:2048 -nodes -subj /O=node -keyout node.key -out node.csr
      printf 'subjectAltName=IP:127.0.0.1' > names
      openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out node.pem
      """,
    ]
    process.currentDirectoryURL = folder
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  deinit { do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) stays: \(error)") } }

  func file(_ name: String) -> URL { folder.appending(path: name) }
}
