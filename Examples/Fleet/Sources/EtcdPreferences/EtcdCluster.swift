public import Foundation

/// An etcd cluster, described by its members' addresses and the connection settings.
///
/// ```swift
/// let cluster = EtcdCluster(endpoints: [
///   URL(string: "http://10.0.0.1:2379")!, URL(string: "http://10.0.0.2:2379")!, URL(string: "http://10.0.0.3:2379")!,
/// ])
/// ```
public struct EtcdCluster: Sendable {
  /// The addresses of the cluster's members, which the store asks in turn if a member doesn't answer.
  public var endpoints: [URL]
  /// The user's name and password, if etcd requires a user.
  public var user: User?
  /// The TLS settings, if the system doesn't trust etcd's certificate or etcd requires a certificate of the program.
  public var tls: TLS?
  /// The time to wait for one member's answer.
  ///
  /// When a watch begins, and after a watch has been silent, the store waits for only a quarter of this time.
  public var requestLimit: Duration = .seconds(2)
  /// The total time for which a read or a change is retried.
  ///
  /// The store retries with all members while the cluster elects a leader, or while other clients change the same
  /// values. Another thread that waits to write to the same store waits at most 5 seconds.
  public var retryLimit: Duration = .seconds(5)
  /// The time without a message from the watch after which the store asks etcd for its newest revision.
  ///
  /// If the store doesn't have this revision yet, the watch may be dead. In this case, the store opens a new watch,
  /// which begins after the last change that the store has.
  public var silenceLimit: Duration = .seconds(4)
  /// The maximum size of a change in bytes, which is etcd's option `--max-request-bytes`.
  ///
  /// The size includes keys and values. A larger change isn't sent.
  public var requestSizeLimit = 1_572_864

  /// Creates a cluster with the addresses of its members.
  ///
  /// - Precondition: There is at least one address.
  public init(endpoints: [URL], user: User? = nil, tls: TLS? = nil) {
    precondition(!endpoints.isEmpty, "An EtcdCluster needs an endpoint: EtcdCluster(endpoints: [URL(string: …)!])")
    self.endpoints = endpoints
    self.user = user
    self.tls = tls
  }

  /// The name and the password of an etcd user.
  public struct User: Sendable {
    let name: String
    let password: String

    /// Creates a user with a name and a password.
    public init(_ name: String, password: String) {
      self.name = name
      self.password = password
    }
  }

  /// TLS settings, given as files with certificates and keys in PEM format.
  public struct TLS: Sendable {
    let certificateAuthority: URL?
    let certificate: URL?
    let privateKey: URL?

    /// Creates TLS settings from files.
    ///
    /// - Parameters:
    ///   - certificateAuthority: The authorities that may sign etcd's certificate, or nil for the system's authorities.
    ///   - certificate: The program's certificate, if etcd requires one.
    ///   - privateKey: The key of the program's certificate.
    public init(certificateAuthority: URL? = nil, certificate: URL? = nil, privateKey: URL? = nil) {
      self.certificateAuthority = certificateAuthority
      self.certificate = certificate
      self.privateKey = privateKey
    }
  }
}
