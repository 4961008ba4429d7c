// The services that the launch steps create. In a real app, they are types of the app and of its libraries.

/// A database that keeps its rows in memory.
actor Database {
  private var rows: [String: String] = [:]
  let path: String

  init(path: String) { self.path = path }

  func write(_ value: String, for key: String) { rows[key] = value }
  func read(_ key: String) -> String? { rows[key] }
}

/// The settings that turn features on or limit them.
struct FeatureFlags: Sendable {
  let newCheckout: Bool
  let searchLimit: Int
}

/// A connection to the server.
struct Network: Sendable {
  let host: String
}

/// A server that can't be reached at the first call.
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

/// A counter, whose first number is 1.
actor Counter {
  private var count = 0

  func next() -> Int {
    count += 1
    return count
  }
}

/// A gate at which tasks wait until it is opened.
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
