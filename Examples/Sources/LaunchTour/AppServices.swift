// What the steps make; in an app these are its own and other people's libraries.

/// Rows kept somewhere.
actor Database {
  private var rows: [String: String] = [:]
  let path: String

  init(path: String) { self.path = path }

  func write(_ value: String, for key: String) { rows[key] = value }
  func read(_ key: String) -> String? { rows[key] }
}

/// Which features are on.
struct FeatureFlags: Sendable {
  let newCheckout: Bool
  let searchLimit: Int
}

/// Talks to the server.
struct Network: Sendable {
  let host: String
}

/// A server that is not up at the first call.
actor FlakyServer {
  struct Unreachable: Error, CustomStringConvertible {
    let description = "the server can't be reached"
  }
  private var calls = 0

  func signIn() throws -> String {
    calls += 1
    if calls == 1 { throw Unreachable() }
    return "guest"
  }
}
