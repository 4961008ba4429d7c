import Foundation
import Synchronization
import Testing

@testable import EtcdPreferences

/// The tests that need etcd, which run one after another.
///
/// In parallel, the tests would slow each other and etcd down until the store's time limits are exceeded.
@Suite("etcd", .serialized, .enabled(if: EtcdNodes.isInstalled, "etcd is not installed"), .timeLimit(.minutes(5)))
enum EtcdTests {}

/// An etcd cluster for one test, whose members end with the test, even if the test crashes.
final class EtcdNodes: Sendable {
  /// The path of the program etcd, or nil if etcd isn't installed.
  static let program: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/etcd" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isInstalled: Bool {
    if program == nil { print("skipped: etcd is not installed; Debian's package is etcd-server") }
    return program != nil
  }

  /// A cluster with one member, which several tests share, each test with its own key prefix.
  static let shared = Task { try await EtcdNodes(1) }

  struct Failure: Error { let description: String }

  /// A shell process that runs etcd, and sends etcd the signals that are written to the shell's input.
  ///
  /// When the input ends because the tests have ended, the shell kills etcd and removes the folder.
  private final class Node: Sendable {
    private let shell: Process
    private let input: Pipe

    private static let loop = """
      while read -r signal; do
        kill -$signal $!
        if [ "$signal" = KILL ]; then exit; fi
      done
      kill -KILL $!; rm -rf "$folder"
      """

    init(_ arguments: [String], in folder: URL, log: URL) throws {
      shell = Process()
      input = Pipe()
      shell.executableURL = URL(filePath: "/bin/sh")
      shell.arguments =
        [
          "-c", #"folder=$1; shift; "$0" "$@" < /dev/null & \#(Node.loop)"#,
          try program ?? { throw Failure(description: "etcd is not installed") }(), folder.path,
        ] + arguments
      shell.standardInput = input
      try Data().write(to: log)
      let file = try FileHandle(forWritingTo: log)
      shell.standardOutput = file
      shell.standardError = file
      try shell.run()
    }

    func send(_ signal: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(signal)\n".utf8)) }

    /// Kills etcd, and waits for its end.
    func end() {
      do { try send("KILL") } catch { print("etcd ended before it was killed: \(error)") }
      shell.waitUntilExit()
    }
  }

  /// The folder for the members' files, which is in memory if there is enough space.
  ///
  /// etcd synchronizes each change with the disk, which may take seconds on a disk that other programs use.
  private static let parent: URL = {
    do {
      let free = try FileManager.default.attributesOfFileSystem(forPath: "/dev/shm")[.systemFreeSize] as? Int ?? 0
      if free > 2 << 30, FileManager.default.isWritableFile(atPath: "/dev/shm") { return URL(filePath: "/dev/shm") }
    } catch {
      // This system has no folder in memory.
    }
    return FileManager.default.temporaryDirectory
  }()

  private let folder: URL
  private let ports: [Int]
  private let tls: EtcdCluster.TLS?
  private let options: [String]
  private let nodes = Mutex<[Int: Node]>([:])

  /// Starts members, and waits until each of them serves requests.
  ///
  /// - Parameters:
  ///   - count: The number of members.
  ///   - options: Additional arguments of etcd.
  ///   - tls: The TLS settings for connections, if the options name certificates.
  init(_ count: Int, options: [String] = [], tls: EtcdCluster.TLS? = nil) async throws {
    folder = EtcdNodes.parent.appending(path: "etcd-preferences-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    ports = try freePorts(count * 2)
    self.tls = tls
    self.options = options
    for index in 0..<count { try start(index) }
    for index in 0..<count { try await waitUntilServing(index) }
  }

  deinit {
    for node in nodes.withLock({ $0.values }) { node.end() }
    do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) stays: \(error)") }
  }

  var indices: Range<Int> { 0..<ports.count / 2 }

  func endpoint(_ index: Int) -> URL { URL(string: "\(tls == nil ? "http" : "https")://127.0.0.1:\(port(index))")! }

  func port(_ index: Int) -> Int { ports[index * 2] }

  /// The cluster's addresses, with time limits that a slow disk doesn't exceed.
  var cluster: EtcdCluster {
    var cluster = EtcdCluster(endpoints: indices.map { endpoint($0) }, tls: tls)
    (cluster.requestLimit, cluster.retryLimit) = (.seconds(10), .seconds(30))
    return cluster
  }

  /// Starts a member, with the data of its previous run if there was one.
  func start(_ index: Int) throws {
    func peer(_ index: Int) -> String { "http://127.0.0.1:\(ports[index * 2 + 1])" }
    let node = try Node(
      [
        "--name", "n\(index)", "--data-dir", folder.appending(path: "n\(index)").path,
        "--listen-client-urls", endpoint(index).absoluteString,
        "--advertise-client-urls", endpoint(index).absoluteString,
        "--listen-peer-urls", peer(index), "--initial-advertise-peer-urls", peer(index),
        "--initial-cluster", indices.map { "n\($0)=\(peer($0))" }.joined(separator: ","),
      ] + options, in: folder, log: folder.appending(path: "n\(index)-\(UUID().uuidString).log"))
    nodes.withLock { $0[index] = node }
  }

  /// Kills a member without a shutdown, to simulate a power failure.
  func kill(_ index: Int) { nodes.withLock { $0.removeValue(forKey: index) }?.end() }

  /// Sends a signal, such as `STOP`, to a member.
  func send(_ signal: String, to index: Int) throws { try nodes.withLock { $0[index] }?.send(signal) }

  /// Returns a client that asks only one member.
  func client(_ index: Int, user: EtcdCluster.User? = nil) throws -> EtcdClient {
    try EtcdClient(EtcdCluster(endpoints: [endpoint(index)], user: user, tls: tls))
  }

  func waitUntilServing(_ index: Int) async throws {
    let client = try client(index)
    try await eventually("member \(index) serves", within: .seconds(120)) {
      do { return try client.status().leader != nil } catch { return false }
    }
  }

  /// Returns the index of the cluster's leader.
  func leader() throws -> Int {
    for index in indices where nodes.withLock({ $0[index] }) != nil {
      let status = try client(index).status()
      if status.leader == status.header.memberId { return index }
    }
    throw Failure(description: "No member says that it is the leader.")
  }
}

/// Waits until another process or thread has made a condition true, or throws an error after the limit.
func eventually(
  _ what: String, within limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !condition() {
    if ContinuousClock.now > end { throw EtcdNodes.Failure(description: "\(what): not within \(limit)") }
    try await Task.sleep(for: .milliseconds(10))
  }
}

/// Runs blocking code on a thread of its own, because the cooperative pool has few threads.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
  }
}

/// Returns ports on which no program was listening a moment ago.
private func freePorts(_ count: Int) throws -> [Int] {
  let sockets = (0..<count).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
  defer { for socket in sockets { close(socket) } }
  return try sockets.map { socket in
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    guard isBound else { throw EtcdNodes.Failure(description: "There is no free port.") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}

private func loopback(port: Int) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = UInt16(port).bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  return address
}

struct MemberStatus: Decodable {
  struct Header: Decodable { var memberId: String }
  var header: Header
  var leader: String?
}

extension EtcdClient {
  private struct Anything: Decodable {}

  func status() throws -> MemberStatus { try call("maintenance/status", [String: String]()) }

  /// Sets a key in etcd, without using a store.
  func put(_ value: String, at key: String) throws {
    let _: Anything = try call(
      "kv/put", ["key": Data(key.utf8).base64EncodedString(), "value": Data(value.utf8).base64EncodedString()])
  }

  /// Deletes a key from etcd, without using a store.
  func delete(_ key: String) throws {
    let _: Anything = try call("kv/deleterange", ["key": Data(key.utf8).base64EncodedString()])
  }

  /// Raises or ends the alarm that etcd raises when it has no space left.
  func setAlarm(_ isOn: Bool) throws {
    let _: Anything = try call(
      "maintenance/alarm", ["action": isOn ? "ACTIVATE" : "DEACTIVATE", "alarm": "NOSPACE"])
  }

  /// Compacts etcd's history up to the current revision.
  func compact() throws {
    let now: RangeResponse = try call("kv/range", ["key": "YQ=="])
    let _: Anything = try call("kv/compaction", ["revision": "\(now.header?.revision?.number ?? 0)"])
  }

  /// Creates the users `root`, who may do everything, and `reader`, who may read keys that begin with `/readable/`.
  func enableUsers() throws {
    for user in ["root", "reader"] {
      let _: Anything = try call("auth/user/add", ["name": user, "password": "secret of \(user)"])
      let _: Anything = try call("auth/role/add", ["name": user])
      let _: Anything = try call("auth/user/grant", ["user": user, "role": user])
    }
    struct Grant: Encodable {
      struct Permission: Encodable {
        var key = Data("/readable/".utf8)
        var rangeEnd = Data("/readable0".utf8)
        var permType = "READ"
      }
      var name = "reader"
      var perm = Permission()
    }
    let _: Anything = try call("auth/role/grant", Grant())
    let _: Anything = try call("auth/enable", [String: String]())
  }
}
