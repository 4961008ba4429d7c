import PreferenceStorage

extension Command {
  /// Does it, and returns how it went.
  func run(on path: FilePath) async throws -> ExitCode {
    if !makesFile, !exists(path) {
      Console.complain("\(path): no such file")
      return .notFound
    }
    if self == .check { return try check(path) }
    let store = try FilePreferenceStore(path: path)
    if let recovery = store.recovery { Console.complain("\(path) was damaged: \(recovery)") }
    switch self {
    case .list: for key in store.keys { try Console.write(Console.shown(key)) }
    case .dump: try dump(store)
    case .get(let key): return try get(key, from: store)
    case .set(let key, let json): try store.set(json: json, forKey: key)
    case .delete(let key): return try delete(key, from: store)
    case .export(let target): try export(store, of: path, to: target)
    case .import(let source): try importValues(from: source, into: store)
    case .watch: return try await watch(store)
    case .compact: try compact(store)
    case .check: break
    }
    return .success
  }

  /// Whether the command makes the file where there is none.
  private var makesFile: Bool {
    switch self {
    case .set, .import, .watch: true
    default: false
    }
  }

  private func exists(_ path: FilePath) -> Bool {
    do throws(SystemError) {
      _ = try PosixFileSystem().status(atPath: path)
      return true
    } catch {
      // What can't be looked at is opened, and the reason shown.
      return !error.isMissing
    }
  }

  private func dump(_ store: FilePreferenceStore) throws {
    let keys = store.keys
    let width = min(40, keys.map { Console.shown($0).count }.max() ?? 0)
    for key in keys {
      if let value = try store.json(forKey: key) { try Console.write(Console.row(key, value, keyWidth: width)) }
    }
  }

  private func get(_ key: String, from store: FilePreferenceStore) throws -> ExitCode {
    guard let value = try store.json(forKey: key) else { return missing(key) }
    try Console.write(value)
    return .success
  }

  private func delete(_ key: String, from store: FilePreferenceStore) throws -> ExitCode {
    guard try store.json(forKey: key) != nil else { return missing(key) }
    try store.removeValue(forKey: key)
    return .success
  }

  private func missing(_ key: String) -> ExitCode {
    Console.complain("there is no key \(key.debugDescription)")
    return .notFound
  }

  private func export(_ store: FilePreferenceStore, of path: FilePath, to target: FilePath?) throws {
    let json = store.json()
    guard let target else { return try Console.write(String(json.dropLast())) }
    try Export(target, insteadOf: path).write(json)
  }

  private func importValues(from source: FilePath, into store: FilePreferenceStore) throws {
    let count = try store.importValues(from: source)
    if Console.isTerminal { try Console.write("\(count) keys") }
  }

  /// Ends with an error where there are no notices: silence would mean that nothing changes.
  private func watch(_ store: FilePreferenceStore) async throws -> ExitCode {
    let errors = store.errors
    let changes = store.changes()
    return try await withThrowingTaskGroup(of: ExitCode.self) { group in
      group.addTask {
        for await error in errors {
          Console.complain(error.description)
          if error.code == .unwatchable { return .inputOutput }
        }
        return .success
      }
      group.addTask {
        for await keys in changes {
          for key in keys.sorted() {
            try Console.write(Console.row(key, try store.json(forKey: key) ?? "null", keyWidth: 0))
          }
        }
        return .success
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .success
    }
  }

  private func compact(_ store: FilePreferenceStore) throws {
    let lengths = try store.compact()
    if Console.isTerminal { try Console.write("\(lengths.before) bytes before, \(lengths.after) after") }
  }

  private func check(_ path: FilePath) throws -> ExitCode {
    let check = try FileCheck(path: path)
    if let holder = check.lockHolder {
      Console.complain("\(path) was read without its lock, which \(holder) has")
    }
    for problem in check.problems {
      try Console.write(problem.line > 0 ? "line \(problem.line) \(problem.explanation)" : problem.explanation)
    }
    if check.problems.isEmpty {
      try Console.write(
        "sound: \(check.lineCount) lines, \(check.keyCount) keys, \(check.byteCount) bytes,"
          + " \(check.neededBytes) after a compaction")
      return .success
    }
    return .damaged
  }
}
