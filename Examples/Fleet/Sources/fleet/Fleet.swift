internal import EtcdPreferences
internal import Foundation
internal import PreferenceStorage

/// The program `fleet`, which shows, sets and watches settings in etcd.
@main struct Fleet {
  static func main() async {
    let invocation: Invocation
    do {
      invocation = try Invocation(
        Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
    } catch {
      complain("\((error as? Invocation.Mistake)?.description ?? "\(error)")\n\(Invocation.usage)")
      exit(64)
    }
    do {
      try await run(invocation)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }

  private static func run(_ invocation: Invocation) async throws {
    let store = try EtcdPreferenceStore(invocation.cluster, prefix: invocation.prefix, snapshot: invocation.snapshot)
    if let failure = store.snapshotFailure { complain("\(failure)") }
    if case .away(let reason) = store.state {
      // The values of the snapshot may be outdated, so the program prints a warning.
      complain("etcd is away. \(reason)")
      if invocation.snapshot == nil, invocation.command != .watch { exit(1) }
    }
    switch invocation.command {
    case .show(let key?):
      guard let json = store.json(forKey: key) else {
        complain("\(key) isn't set.")
        exit(1)
      }
      say(json)
    case .show(nil): for key in store.keys { show(key, of: store) }
    case .set(let key, let json): try set(json, forKey: key, in: store)
    case .remove(let key): try store.removeValue(forKey: key)
    case .add(let key, let number, let times): for _ in 1...times { try add(number, toKey: key, of: store) }
    case .watch: await watch(store)
    }
  }

  private static func show(_ key: String, of store: EtcdPreferenceStore) {
    say("\(key) = \(store.json(forKey: key) ?? "not set")")
  }

  private static func set(_ text: String, forKey key: String, in store: EtcdPreferenceStore) throws {
    do {
      try store.transaction { try $0.set(json: text, forKey: key) }
    } catch let error as PreferenceError where error.code == .invalidValue {
      try store.set(text, forKey: key)
    }
  }

  private static func add(_ number: Int, toKey key: String, of store: EtcdPreferenceStore) throws {
    try store.transaction { changes in
      try changes.set((changes.value(Int.self, forKey: key) ?? 0) + number, forKey: key)
    }
  }

  /// Prints all values, and later each changed value, until the program is interrupted.
  private static func watch(_ store: EtcdPreferenceStore) async {
    let changes = store.changes()
    let errors = store.errors
    for key in store.keys { show(key, of: store) }
    async let complaints: Void = {
      for await error in errors { complain("\(error)") }
    }()
    for await keys in changes {
      for key in keys.sorted() { show(key, of: store) }
    }
    await complaints
  }

  /// Prints a text without buffering, even to a pipe.
  private static func say(_ text: String) { write(text, to: .standardOutput) }

  private static func complain(_ text: String) { write(text, to: .standardError) }

  private static func write(_ text: String, to handle: FileHandle) {
    do {
      try handle.write(contentsOf: Data("\(text)\n".utf8))
    } catch {
      // The process that reads the pipe has ended, such as `head` in `fleet watch | head -1`.
      exit(1)
    }
  }
}
