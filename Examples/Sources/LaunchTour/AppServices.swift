// What the steps create; in an app these are its own and other libraries.

/// Rows kept somewhere.
actor Database {
  private var rows: [String: String] = [:]
  let path: String

  init(path: String) { self.path = path }

  func write(_ value: String, for key: String) { rows[key] = value }
  func read(_ key: String) -> String? { rows[key] }
}

/// The features that are on.
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

/// Counts calls.
actor Counter {
  private var count = 0

  func next() -> Int {
    count += 1
    return count
  }
}

/// Lets nothing pass until it is opened, and then everything.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  func wait() async {
    if isOpen { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}
