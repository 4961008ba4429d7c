internal import AsyncHTTPClient
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import PreferenceStorage
internal import Synchronization

/// Speaks to etcd's JSON gateway: to the member that answered last, and to the next one if it doesn't.
///
/// A call blocks its thread until the answer is there. What it waits for is done by a thread of its own, so that it neither
/// needs a thread of the cooperative pool nor an event loop that the caller may be on.
final class EtcdClient: Sendable {
  private struct Current: Sendable {
    var endpoint = 0
    var token: String?
  }

  /// One thread for all stores of the process.
  private static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  let cluster: EtcdCluster
  private let http: HTTPClient
  private let current = Mutex(Current())

  /// - Throws: `.unreadable` if a file of certificates can't be read.
  init(_ cluster: EtcdCluster) throws(PreferenceError) {
    self.cluster = cluster
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(cluster.requestLimit)),
      decompression: .disabled)
    configuration.httpVersion = .http1Only
    // The next member is asked instead.
    configuration.connectionPool.retryConnectionEstablishment = false
    if let tls = cluster.tls { configuration.tlsConfiguration = try EtcdClient.tlsConfiguration(tls) }
    http = HTTPClient(eventLoopGroupProvider: .shared(EtcdClient.eventLoops), configuration: configuration)
  }

  deinit { http.shutdown { _ in } }

  private static func tlsConfiguration(_ files: EtcdCluster.TLS) throws(PreferenceError) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    var file: URL?
    do {
      if let authority = files.certificateAuthority {
        file = authority
        // Read now, so that a mistake is reported now.
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority.path))
      }
      if let certificate = files.certificate {
        file = certificate
        configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate.path).map { .certificate($0) }
      }
      if let key = files.privateKey {
        file = key
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key.path, format: .pem))
      }
    } catch {
      throw PreferenceError(
        .unreadable, "has no certificate or key in PEM that can be read; name another file in EtcdCluster.TLS",
        path: file?.path, underlying: error)
    }
    return configuration
  }

  /// Sends a message and returns the answer.
  ///
  /// - Parameters:
  ///   - path: The part of the gateway's address after its version: `kv/range`.
  ///   - message: What is sent.
  ///   - isRepeatable: Whether doing it twice is the same as doing it once. It is then sent again if the answer is lost.
  ///   - end: Until when it is sent again; `retryLimit` from now on, if nil.
  func call<Response: Decodable>(
    _ path: String, _ message: some Encodable, isRepeatable: Bool = true, until end: NIODeadline? = nil
  ) throws(EtcdError) -> Response {
    let body = EtcdMessage.encode(message)
    let end = end ?? .now() + TimeAmount(cluster.retryLimit)
    var unreachedCount = 0
    var hasNewToken = false
    while true {
      let endpoint = current.withLock { $0.endpoint }
      do throws(EtcdError) {
        return try attempt(path, body, at: endpoint, until: end)
      } catch {
        switch error.kind {
        case .tokenExpired where !hasNewToken:
          hasNewToken = true
          current.withLock { $0.token = nil }
          continue
        case .unreached:
          unreachedCount += 1
          moveOn(from: endpoint)
          // Each of them was tried, and none was there.
          if unreachedCount >= cluster.endpoints.count { throw error }
        case .uncertain:
          unreachedCount = 0
          moveOn(from: endpoint)
          if !isRepeatable || NIODeadline.now() >= end { throw error }
          // The cluster may be electing a leader, which takes about a second. The client pauses between its tries.
          Thread.sleep(forTimeInterval: 0.05)
        default: throw error
        }
      }
    }
  }

  /// Begins to watch a range.
  ///
  /// - Parameter revision: That of the first change that is told.
  func watch(_ range: KeyRange, from revision: Revision) throws(EtcdError) -> WatchStream {
    let index = current.withLock { $0.endpoint }
    let message = WatchRequest(createRequest: .init(key: range.start, rangeEnd: range.end, startRevision: revision))
    var request = try request("watch", EtcdMessage.encode(message), at: index, until: nil)
    // A member without a leader ends the watch, and doesn't wait for one.
    request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
    let stream = WatchStream(of: cluster.endpoints[index])
    stream.begin(http.execute(request: request, delegate: WatchReceiver(of: stream)))
    return stream
  }

  /// The next call is to the next member, unless another thread has gone there already.
  func moveOn(from endpoint: Int? = nil) {
    current.withLock { current in
      guard endpoint == nil || endpoint == current.endpoint else { return }
      current.endpoint = (current.endpoint + 1) % cluster.endpoints.count
    }
  }

  private func attempt<Response: Decodable>(
    _ path: String, _ body: Data, at index: Int, until end: NIODeadline
  ) throws(EtcdError) -> Response {
    let request = try request(path, body, at: index, until: end)
    return try answer(to: request, from: cluster.endpoints[index], until: end)
  }

  private func request(
    _ path: String, _ body: Data, at index: Int, until end: NIODeadline?
  ) throws(EtcdError) -> HTTPClient.Request {
    let endpoint = cluster.endpoints[index]
    var headers = HTTPHeaders([("Content-Type", "application/json")])
    if let user = cluster.user {
      headers.add(name: "Authorization", value: try token(of: user, at: endpoint, until: end))
    }
    return try request(path, at: endpoint, headers: headers, body: body)
  }

  private func request(
    _ path: String, at endpoint: URL, headers: HTTPHeaders = HTTPHeaders(), body: Data
  ) throws(EtcdError) -> HTTPClient.Request {
    do {
      return try HTTPClient.Request(
        url: endpoint.appending(path: "v3/" + path), method: .POST, headers: headers, body: .data(body))
    } catch {
      throw EtcdError(
        .refused,
        "\(endpoint.absoluteString) isn't a server's address (\(error)). "
          + "Give a member's URL, such as http://127.0.0.1:2379.")
    }
  }

  private func token(
    of user: EtcdCluster.User, at endpoint: URL, until end: NIODeadline?
  ) throws(EtcdError) -> String {
    if let token = current.withLock({ $0.token }) { return token }
    let message = AuthenticationRequest(name: user.name, password: user.password)
    let request = try request("auth/authenticate", at: endpoint, body: EtcdMessage.encode(message))
    let answer: AuthenticationResponse = try answer(to: request, from: endpoint, until: end)
    current.withLock { $0.token = answer.token }
    return answer.token
  }

  private func answer<Response: Decodable>(
    to request: HTTPClient.Request, from endpoint: URL, until end: NIODeadline?
  ) throws(EtcdError) -> Response {
    let limit = NIODeadline.now() + TimeAmount(cluster.requestLimit)
    let response: HTTPClient.Response
    do {
      response = try http.execute(request: request, deadline: end.map { min($0, limit) } ?? limit).blockingResult()
    } catch {
      throw EtcdError(error, at: endpoint)
    }
    let body = Data(response.body.map { Array($0.readableBytesView) } ?? [])
    guard response.status == .ok else { throw EtcdError(status: Int(response.status.code), body: body, at: endpoint) }
    do {
      return try EtcdMessage.decode(Response.self, from: body)
    } catch {
      throw EtcdError(.refused, "\(endpoint.absoluteString) doesn't answer as etcd does (\(error))")
    }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// Waits for the result, on any thread but this future's.
  ///
  /// Unlike `wait()`, it may be called on an event loop of another group, as a server's handler may be.
  fileprivate func blockingResult() throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let isThere = DispatchSemaphore(value: 0)
    whenComplete { value in
      result.withLock { $0 = value }
      isThere.signal()
    }
    isThere.wait()
    return try result.withLock { $0! }.get()
  }
}
