public import Foundation

/// The addresses of etcd's members, and the settings of the connections to them.
///
/// ```swift
/// let cluster = EtcdCluster(endpoints: [
///   URL(string: "http://10.0.0.1:2379")!, URL(string: "http://10.0.0.2:2379")!, URL(string: "http://10.0.0.3:2379")!,
/// ])
/// ```
public struct EtcdCluster: Sendable {
  /// The addresses of its members; any of them serves, and the next one is asked when one doesn't answer.
  public var endpoints: [URL]
  /// The user's name and password, if etcd asks for them.
  public var user: User?
  /// The settings of TLS, if the system doesn't trust etcd's certificate.
  public var tls: TLS?
  /// For how long one member is waited for; a quarter of it when a watch begins, and after its silence.
  public var requestLimit: Duration = .seconds(2)
  /// For how long a read or a change is tried again, by all members together, while a leader is elected and others change
  /// the same values.
  ///
  /// A thread that waits to write in the same store waits 5 seconds at most.
  public var retryLimit: Duration = .seconds(5)
  /// After how much silence of the watch etcd is asked whether there is something new.
  ///
  /// If there is, the watch may be dead, and is opened again from the last change that it told.
  public var silenceLimit: Duration = .seconds(4)
  /// The maximum size of a change in bytes, with its keys and values: etcd's `--max-request-bytes`.
  ///
  /// A larger change isn't sent.
  public var requestSizeLimit = 1_572_864

  /// A cluster whose members are at these addresses.
  ///
  /// - Precondition: There is one.
  public init(endpoints: [URL], user: User? = nil, tls: TLS? = nil) {
    precondition(!endpoints.isEmpty, "An EtcdCluster needs an endpoint: EtcdCluster(endpoints: [URL(string: …)!])")
    self.endpoints = endpoints
    self.user = user
    self.tls = tls
  }

  /// A user of etcd.
  public struct User: Sendable {
    let name: String
    let password: String

    /// A user with a name and a password.
    public init(_ name: String, password: String) {
      self.name = name
      self.password = password
    }
  }

  /// Files of certificates and keys, in PEM.
  public struct TLS: Sendable {
    let certificateAuthority: URL?
    let certificate: URL?
    let privateKey: URL?

    /// Files of certificates and keys.
    ///
    /// - Parameters:
    ///   - certificateAuthority: The certificates that etcd's own is checked against. Nil stands for those of the system.
    ///   - certificate: The program's certificate, if etcd asks for one.
    ///   - privateKey: The key of the program's certificate.
    public init(certificateAuthority: URL? = nil, certificate: URL? = nil, privateKey: URL? = nil) {
      self.certificateAuthority = certificateAuthority
      self.certificate = certificate
      self.privateKey = privateKey
    }
  }
}
