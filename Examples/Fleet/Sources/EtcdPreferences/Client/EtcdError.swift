internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PreferenceStorage

/// An error of a request to etcd.
struct EtcdError: Error, CustomStringConvertible {
  enum Kind: Equatable {
    /// No connection came about, so nothing was done.
    case unreached
    /// The answer didn't come, so it may have been done or not.
    case uncertain
    /// The token isn't valid any more, so nothing was done.
    case tokenExpired
    /// It was refused, and will be again.
    case refused
    /// It was refused, since etcd has no more space.
    case noSpace
    /// It was refused, since the user has no right to do it.
    case forbidden
    /// It is larger than etcd takes, and wasn't sent.
    case tooLarge
    /// Others changed the same values until the time was up.
    case contended
  }

  let kind: Kind
  /// A sentence on what happened, without a capital at its beginning.
  let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// Creates the error of a request without an answer.
  ///
  /// - Parameters:
  ///   - error: Why there is none.
  ///   - endpoint: The member that was asked.
  ///   - hasAnswered: Whether that member has answered other requests.
  init(_ error: any Error, at endpoint: URL, hasAnswered: Bool = true) {
    let advice = EtcdError.advice(for: error, at: endpoint, hasAnswered: hasAnswered)
    self.init(
      EtcdError.isBeforeConnection(error) ? .unreached : .uncertain,
      "\(endpoint.absoluteString) doesn't answer\(advice.map { "; " + $0 } ?? "") (\(error))")
  }

  /// Returns what happened and what to do about it, if an address or a certificate is wrong.
  private static func advice(for error: any Error, at endpoint: URL, hasAnswered: Bool) -> String? {
    // The errors of TLS tell their reasons apart only by name.
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

  /// Creates the error of an answer whose status reports a failure.
  init(status: Int, body: Data, at endpoint: URL) {
    let refusal: RefusalMessage
    do {
      refusal = try EtcdMessage.decode(RefusalMessage.self, from: body)
    } catch {
      // Not etcd's words: a proxy's, or another server's.
      let text = String(decoding: body.prefix(200), as: UTF8.self)
      self.init(
        status >= 500 ? .uncertain : .refused, "\(endpoint.absoluteString) answers with status \(status) (\(text))")
      return
    }
    self.init(refusal, at: endpoint)
  }

  init(_ refusal: RefusalMessage, at endpoint: URL) {
    // The codes of gRPC.
    let kind: Kind =
      switch refusal.code {
      case 8 where refusal.message.contains("space"): .noSpace
      case 8 where refusal.message.contains("larger than max"): .refused
      case 7: .forbidden
      case 16: .tokenExpired
      // The users' rights were changed since the token was given.
      case 3 where refusal.message.contains("revision of auth store is old"): .tokenExpired
      case 1, 2, 4, 8, 14: .uncertain
      default: .refused
      }
    self.init(kind, "\(endpoint.absoluteString) refuses it (\(refusal.message))")
  }

  /// Whether a connection failed before anything was sent.
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

  /// The error that a reader of the store is thrown.
  var whenReading: PreferenceError { PreferenceError(.unreadable, "the values in etcd can't be read: \(description)") }

  /// Returns the error of a call whose last attempt failed with this one, after an attempt whose answer was lost.
  func after(_ lost: EtcdError) -> EtcdError { EtcdError(.uncertain, "\(lost); and then \(description)") }

  /// Whether any other change will be refused too, until etcd is set otherwise.
  var isOfEveryChange: Bool { kind == .noSpace || kind == .forbidden }

  /// The error that a writer is thrown.
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
