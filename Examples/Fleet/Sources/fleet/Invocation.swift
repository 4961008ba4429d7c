internal import EtcdPreferences
internal import Foundation

/// The parsed arguments of the program.
struct Invocation {
  enum Command: Equatable {
    case show(key: String?)
    case set(key: String, json: String)
    case remove(key: String)
    case add(key: String, number: Int, times: Int)
    case watch
  }

  struct Mistake: Error { let description: String }

  static let usage = """
    usage: fleet [options] show [KEY] | set KEY VALUE | remove KEY | add KEY NUMBER [TIMES] | watch
      --etcd URL[,URL...]  the members of etcd (http://127.0.0.1:2379, or $FLEET_ETCD)
      --prefix PREFIX      what the settings' keys begin with (/fleet/settings/)
      --snapshot FILE      keeps the values, and has them while etcd is away
      --user NAME          a user of etcd, whose password is in $FLEET_PASSWORD
      --cacert FILE        what etcd's certificate is checked against
      --cert FILE          this program's certificate, if etcd asks for one
      --key FILE           the key of that certificate
      --retry SECONDS      for how long a change is tried again (5)
    VALUE is JSON, or else a text. `add` adds a number to a value in one transaction, TIMES times.
    """

  var cluster: EtcdCluster
  var prefix = "/fleet/settings/"
  var snapshot: URL?
  var command: Command

  /// Parses the program's arguments.
  ///
  /// - Throws: A `Mistake` if the arguments don't fit the usage.
  init(_ arguments: [String], environment: [String: String]) throws {
    var options: [String: String] = [:]
    var rest = arguments[...]
    while let option = rest.first, option.hasPrefix("--") {
      guard ["--etcd", "--prefix", "--snapshot", "--user", "--cacert", "--cert", "--key", "--retry"].contains(option)
      else {
        throw Mistake(description: "There is no option \(option).")
      }
      guard rest.count > 1 else { throw Mistake(description: "\(option) needs a value.") }
      options[option] = rest[rest.startIndex + 1]
      rest = rest.dropFirst(2)
    }
    command = try Invocation.command(Array(rest))
    cluster = try Invocation.cluster(options, environment)
    prefix = options["--prefix"] ?? prefix
    snapshot = options["--snapshot"].map { URL(filePath: $0) }
  }

  private static func command(_ words: [String]) throws -> Command {
    switch (words.first, words.count) {
    case ("show", 1): return .show(key: nil)
    case ("show", 2): return .show(key: words[1])
    case ("set", 3): return .set(key: words[1], json: words[2])
    case ("remove", 2): return .remove(key: words[1])
    case ("add", 3), ("add", 4):
      guard let number = Int(words[2]), let times = Int(words.count == 4 ? words[3] : "1"), times > 0 else {
        throw Mistake(description: "`add` needs a number, and how many times it is added.")
      }
      return .add(key: words[1], number: number, times: times)
    case ("watch", 1): return .watch
    default: throw Mistake(description: "There is no such command.")
    }
  }

  private static func cluster(_ options: [String: String], _ environment: [String: String]) throws -> EtcdCluster {
    let addresses = options["--etcd"] ?? environment["FLEET_ETCD"] ?? "http://127.0.0.1:2379"
    let endpoints = try addresses.split(separator: ",").map { address in
      guard let url = URL(string: String(address)), url.host() != nil else {
        throw Mistake(description: "\(address) isn't a URL.")
      }
      return url
    }
    guard !endpoints.isEmpty else { throw Mistake(description: "--etcd needs a URL.") }
    let files = ["--cacert", "--cert", "--key"].map { option in options[option].map { URL(filePath: $0) } }
    var cluster = EtcdCluster(
      endpoints: endpoints,
      user: options["--user"].map { .init($0, password: environment["FLEET_PASSWORD"] ?? "") },
      tls: files.contains { $0 != nil }
        ? .init(certificateAuthority: files[0], certificate: files[1], privateKey: files[2]) : nil)
    if let text = options["--retry"] {
      guard let seconds = Int(text), seconds > 0 else {
        throw Mistake(description: "--retry needs a number of seconds.")
      }
      cluster.retryLimit = .seconds(seconds)
    }
    return cluster
  }
}
