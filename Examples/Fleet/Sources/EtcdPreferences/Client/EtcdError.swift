internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PreferenceStorage

/// An error from a request to etcd.
struct EtcdError: Error, CustomStringConvertible {
  enum Kind: Equatable {
    /// There was no connection, so nothing was done.
    case unreached
    /// The answer was lost, so the request may have been carried out.
    case uncertain
    /// The token has expired, so nothing was done.
    case tokenExpired
    /// etcd refused the request, and will refuse it again.
    case refused
    /// etcd refused the request, because it has no space left.
    case noSpace
    /// etcd refused the request, because the user isn't permitted to make it.
    case forbidden
    /// The request is larger than etcd accepts, and wasn't sent.
    case tooLarge
    /// Other clients kept changing the same values until the time limit.
    case contended
  }

  let kind: Kind
  /// A description of the problem that begins in lowercase.
  let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// Creates an error for a request that got no answer.
  ///
  /// - Parameters:
  ///   - error: The error that the client threw instead of returning etcd's answer.
  ///   - endpoint: The member that was asked.
  ///   - hasAnswered: Whether the member has answered other requests.
  init(_ error: any Error, at endpoint: URL, hasAnswered: Bool = true) {
    let advice = EtcdError.advice(for: error, at: endpoint, hasAnswered: hasAnswered)
    self.init(
      EtcdError.isBeforeConnection(error) ? .unreached : .uncertain,
      "\(endpoint.absoluteString) doesn't answer\(advice.map { "; " + $0 } ?? "") (\(error))")
  }

  /// Returns the problem and its solution if an address or a certificate is wrong, or nil otherwise.
  private static func advice(for error: any Error, at endpoint: URL, hasAnswered: Bool) -> String? {
    // TLS errors can be distinguished only by their descriptions.
    let reason = "\(error)"
    if reason.contains("CERTIFICATE_VERIFY_FAILED") {
      return "its certificate isn't signed by an authority that this program trusts, so name the file of the right one:"
        + " EtcdCluster.TLS(certificateAuthority: …)"
    }
    if reason.contains("CERTIFICATE_REQUIRED") || reason.contains("BAD_CERTIFICATE") {
      return "it asks for a certificate of this program, so name its files:"
        + " EtcdCluster.TLS(certificate: …, privateKey: …)"
    }
    if hasAnswered { return nil }
    if endpoint.scheme == "http", error as? HTTPClientError == .remoteConnectionClosed {
      return "it ends each connection, and if it does so because it speaks TLS, its address begins with https://"
    }
    if reason.contains("EOF during handshake") || reason.contains("WRONG_VERSION_NUMBER") {
      return "it ends each connection, and if it does so because it doesn't speak TLS, its address begins with http://"
    }
    return nil
  }

  /// Creates an error for an answer with a failure status.
  init(status: Int, body: Data, at endpoint: URL) {
    let refusal: RefusalMessage
    do {
      refusal = try EtcdMessage.decode(RefusalMessage.self, from: body)
    } catch {
      // The answer comes from a proxy or another server, not from etcd.
      let text = String(decoding: body.prefix(200), as: UTF8.self)
      self.init(
        status >= 500 ? .uncertain : .refused, "\(endpoint.absoluteString) answers with status \(status) (\(text))")
      return
    }
    self.init(refusal, at: endpoint)
  }

  init(_ refusal: RefusalMessage, at endpoint: URL) {
    // The numbers are status codes of gRPC.
    let kind: Kind =
      switch refusal.code {
      case 8 where refusal.message.contains("space"): .noSpace
      case 8 where refusal.message.contains("larger than max"): .refused
      case 7: .forbidden
      case 16: .tokenExpired
      // The permissions of users have changed since the token was issued.
      case 3 where refusal.message.contains("revision of auth store is old"): .tokenExpired
      case 1, 2, 4, 8, 14: .uncertain
      default: .refused
      }
    self.init(kind, "\(endpoint.absoluteString) refuses it (\(refusal.message))")
  }

  /// Returns whether a connection failed before anything was sent.
  private static func isBeforeConnection(_ error: any Error) -> Bool {
    switch error {
    case is NIOConnectionError, is NIOSSLError: true
    case let error as ChannelError: if case .connectTimeout = error { true } else { false }
    case let error as HTTPClientError:
      [.connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout].contains(error)
    case let error as IOError: error.errnoCode == ECONNREFUSED
    default: false
    }
  }

  /// The error to throw to a caller that reads.
  var whenReading: PreferenceError { PreferenceError(.unreadable, "the values in etcd can't be read: \(description)") }

  /// Returns the error to throw if an attempt fails with this error after the answer to an earlier attempt was lost.
  func after(_ lost: EtcdError) -> EtcdError { EtcdError(.uncertain, "\(lost); and then \(description)") }

  /// Whether etcd will also refuse all other changes, until its settings change.
  var isOfEveryChange: Bool { kind == .noSpace || kind == .forbidden }

  /// The error to throw to a caller that writes.
  var whenWriting: PreferenceError {
    switch kind {
    case .noSpace: PreferenceError(.noSpace, "etcd has no space for the change, and it was not made: \(description)")
    case .contended: PreferenceError(.busy, description)
    case .tooLarge: PreferenceError(.unwritable, description)
    case .uncertain:
      PreferenceError(
        .unwritable,
        "the answer to the change was lost, and whether it was made will be seen when etcd answers again: \(description)"
      )
    default: PreferenceError(.unwritable, "the change was not made, since etcd can't make it now: \(description)")
    }
  }
}
