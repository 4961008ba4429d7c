internal import AsyncHTTPClient
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import PreferenceStorage
internal import Synchronization

/// A client of etcd's JSON gateway, which prefers the member that answered last over the other members.
///
/// A call blocks its thread until the answer arrives. A separate thread does the input and output. A call therefore
/// needs neither a thread of the cooperative pool nor an event loop of the caller.
final class EtcdClient: Sendable {
  private struct Current: Sendable {
    var index = 0
    var token: String?
    /// The members that have answered a request.
    var answered: Set<URL> = []
  }

  /// An event loop group with one thread, which all stores of the process share.
  private static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  let cluster: EtcdCluster
  private let http: HTTPClient
  private let current = Mutex(Current())

  /// Creates a client for a cluster.
  ///
  /// - Throws: `.unreadable` if a file of certificates can't be read.
  init(_ cluster: EtcdCluster) throws(PreferenceError) {
    self.cluster = cluster
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(cluster.requestLimit)),
      decompression: .disabled)
    configuration.httpVersion = .http1Only
    // Connections aren't retried, because this client asks the next member instead.
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
        // The files are read immediately, so that creating the client reports a mistake in the files.
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

  /// Sends a message that may safely be carried out twice, and returns the answer (see ``send(_:_:until:)``).
  func call<Response: Decodable>(
    _ path: String, _ message: some Encodable, until end: NIODeadline? = nil
  ) throws(EtcdError) -> Response {
    let answer: Answer<Response> = try send(path, message, until: end)
    return answer.message
  }

  /// Returns whether a range can be read now.
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
    /// Whether the answer to an earlier attempt was lost, so that the request may have been carried out before.
    var isOfRepetition: Bool
  }

  /// Sends a message, repeats it if the answer is lost, and returns the answer.
  ///
  /// - Parameters:
  ///   - path: The path in the gateway without the version, such as `kv/range`.
  ///   - message: The message.
  ///   - end: The time at which repetitions end, or nil if they end after the cluster's `retryLimit`.
  /// - Throws: `.uncertain` if the answer to any attempt was lost, even if a later attempt failed for another reason.
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
          // Every member was tried, and none was available.
          if unreachedCount >= cluster.endpoints.count { throw error }
        case .uncertain, .unreached:
          // The request may have been carried out, and only an answer shows whether it was. The client therefore tries
          // again until `end`, even while no member answers.
          moveOn(from: endpoint)
          // The first error says more than the last error, because the last attempts had little time.
          if NIODeadline.now() >= end { throw lost ?? error }
          lost = lost ?? error
          // The cluster may be electing a leader, which takes about a second, so the client pauses between its
          // attempts.
          Thread.sleep(forTimeInterval: 0.05)
        default: throw lost.map { error.after($0) } ?? error
        }
      }
    }
  }

  /// Starts to watch a range, and returns the stream of the watch's messages.
  ///
  /// - Parameter revision: The revision of the first change to report.
  func watch(_ range: KeyRange, from revision: Revision) throws(EtcdError) -> WatchStream {
    let endpoint = endpoint
    let message = WatchRequest(createRequest: .init(key: range.start, rangeEnd: range.end, startRevision: revision))
    var request = try request("watch", EtcdMessage.encode(message), at: endpoint, until: nil)
    // With this header, a member that has no leader ends the watch.
    request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
    let stream = WatchStream(of: endpoint)
    stream.begin(http.execute(request: request, delegate: WatchReceiver(of: stream)))
    return stream
  }

  /// Makes later calls ask the next member, unless another thread has already switched to another member.
  func moveOn(from endpoint: URL) {
    current.withLock { current in
      guard endpoint == cluster.endpoints[current.index] else { return }
      current.index = (current.index + 1) % cluster.endpoints.count
    }
  }

  /// The address of the member to ask, which is the last member that answered, or the next member after a failure.
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
  /// Waits for the result, on any thread except this future's event loop.
  ///
  /// Unlike `wait()`, this method may be called on an event loop of another group, such as in a server's handler.
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
