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
    var index = 0
    var token: String?
    /// The members that have answered anything.
    var answered: Set<URL> = []
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

  /// Sends a message and returns the answer, as ``send(_:_:until:)`` does, for a message that may be done twice.
  func call<Response: Decodable>(
    _ path: String, _ message: some Encodable, until end: NIODeadline? = nil
  ) throws(EtcdError) -> Response {
    let answer: Answer<Response> = try send(path, message, until: end)
    return answer.message
  }

  /// Whether a range can be read now.
  func canRead(_ range: KeyRange, until end: NIODeadline) -> Bool {
    do throws(EtcdError) {
      let request = RangeRequest(key: range.start, rangeEnd: range.end, countOnly: true)
      let _: RangeResponse = try call("kv/range", request, until: end)
      return true
    } catch {
      return false
    }
  }

  /// The answer to a message.
  struct Answer<Message> {
    var message: Message
    /// Whether an earlier answer was lost, so that what was asked for may have been done before.
    var isOfRepetition: Bool
  }

  /// Sends a message, again if the answer is lost, and returns the answer.
  ///
  /// - Parameters:
  ///   - path: The part of the gateway's address after its version: `kv/range`.
  ///   - message: The message.
  ///   - end: Until when it is sent again; `retryLimit` from now on, if nil.
  /// - Throws: `.uncertain` if the answer to any of its attempts was lost, whatever the last one failed for.
  func send<Response: Decodable>(
    _ path: String, _ message: some Encodable, until end: NIODeadline? = nil
  ) throws(EtcdError) -> Answer<Response> {
    let body = EtcdMessage.encode(message)
    let end = end ?? .now() + TimeAmount(cluster.retryLimit)
    var unreachedCount = 0
    var hasNewToken = false
    // The error of the first attempt whose answer was lost.
    var lost: EtcdError?
    while true {
      let endpoint = endpoint
      do throws(EtcdError) {
        return Answer(message: try attempt(path, body, at: endpoint, until: end), isOfRepetition: lost != nil)
      } catch {
        switch error.kind {
        case .tokenExpired where !hasNewToken:
          hasNewToken = true
          current.withLock { $0.token = nil }
        case .unreached where lost == nil:
          unreachedCount += 1
          moveOn(from: endpoint)
          // Each of them was tried, and none was there.
          if unreachedCount >= cluster.endpoints.count { throw error }
        case .uncertain, .unreached:
          // The request may have been carried out. So the client tries again until the end, even while no member answers,
          // since only an answer tells whether it was.
          moveOn(from: endpoint)
          // The last attempts had little time, so they say less.
          if NIODeadline.now() >= end { throw lost ?? error }
          lost = lost ?? error
          // The cluster may be electing a leader, which takes about a second. The client pauses between its tries.
          Thread.sleep(forTimeInterval: 0.05)
        default: throw lost.map { error.after($0) } ?? error
        }
      }
    }
  }

  /// Begins to watch a range.
  ///
  /// - Parameter revision: That of the first change that is told.
  func watch(_ range: KeyRange, from revision: Revision) throws(EtcdError) -> WatchStream {
    let endpoint = endpoint
    let message = WatchRequest(createRequest: .init(key: range.start, rangeEnd: range.end, startRevision: revision))
    var request = try request("watch", EtcdMessage.encode(message), at: endpoint, until: nil)
    // A member without a leader ends the watch, and doesn't wait for one.
    request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
    let stream = WatchStream(of: endpoint)
    stream.begin(http.execute(request: request, delegate: WatchReceiver(of: stream)))
    return stream
  }

  /// The next call is to the next member, unless another thread has gone there already.
  func moveOn(from endpoint: URL) {
    current.withLock { current in
      guard endpoint == cluster.endpoints[current.index] else { return }
      current.index = (current.index + 1) % cluster.endpoints.count
    }
  }

  /// The member that answered last.
  private var endpoint: URL { cluster.endpoints[current.withLock { $0.index }] }

  private func attempt<Response: Decodable>(
    _ path: String, _ body: Data, at endpoint: URL, until end: NIODeadline
  ) throws(EtcdError) -> Response {
    let request = try request(path, body, at: endpoint, until: end)
    return try answer(to: request, from: endpoint, until: end)
  }

  private func request(
    _ path: String, _ body: Data, at endpoint: URL, until end: NIODeadline?
  ) throws(EtcdError) -> HTTPClient.Request {
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
      throw EtcdError(error, at: endpoint, hasAnswered: current.withLock { $0.answered.contains(endpoint) })
    }
    current.withLock { _ = $0.answered.insert(endpoint) }
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
