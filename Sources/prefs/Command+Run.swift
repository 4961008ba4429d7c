import PreferenceStorage

extension Command {
  /// Runs the command, and returns how it went.
  func run(on path: FilePath) async throws -> ExitCode {
    if !makesFile, !exists(path) {
      Console.complain("\(path): no such file")
      return .notFound
    }
    if self == .check { return try check(path) }
    let store = try FilePreferenceStore(path: path, followsOthers: false)
    if let recovery = store.recovery { Console.complain("\(path) was damaged: \(recovery)") }
    switch self {
    case .list: for key in store.keys { try Console.write(Console.shown(key)) }
    case .dump: try dump(store.keys, of: store)
    case .get(let key, let form): return try get(key, form, from: store)
    case .set(let key, let value, let form): try set(key, to: value, form, in: store)
    case .append(let key, let value, let form): try append(value, form, to: key, in: store)
    case .delete(let key): return try delete(key, from: store)
    case .rename(let key, let newKey): return try rename(key, to: newKey, in: store)
    case .find(let text): return try find(text, in: store)
    case .edit(let key): return try Editing(store: store, key: key).run()
    case .export(let target): try export(store, of: path, to: target)
    case .import(let source): try importValues(from: source, into: store)
    case .watch: return try await watch(store)
    case .compact: try compact(store)
    case .check: break
    }
    return .success
  }

  /// Whether the command makes the file if there is none.
  private var makesFile: Bool {
    switch self {
    case .set, .append, .import, .watch: true
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

  private func dump(_ keys: [String], of store: FilePreferenceStore) throws {
    let width = min(40, keys.map { Console.shown($0).count }.max() ?? 0)
    for key in keys {
      if let value = try store.json(forKey: key) { try Console.write(Console.row(key, value, keyWidth: width)) }
    }
  }

  private func get(_ key: String, _ form: ValueForm, from store: FilePreferenceStore) throws -> ExitCode {
    guard let value = try store.json(forKey: key) else { return missing(key) }
    try Console.write(form == .string ? PreferenceText.string(of: value) ?? value : value)
    return .success
  }

  private func set(_ key: String, to value: String, _ form: ValueForm, in store: FilePreferenceStore) throws {
    let value = try argument(value)
    try store.transaction { changes in
      let json = Command.json(value, form, like: try changes.json(forKey: key))
      try changes.set(json: json, forKey: key)
    }
  }

  private func append(
    _ value: String, _ form: ValueForm, to key: String, in store: FilePreferenceStore
  ) throws {
    let value = try argument(value)
    try store.transaction { changes in
      let kept = try changes.json(forKey: key) ?? "[]"
      guard kept.hasPrefix("[") else {
        throw PreferenceError(.typeMismatch, "the value is not an array; it was kept", key: key)
      }
      let elements = kept.dropFirst().dropLast()
      // The last element's kind shows well enough whether it is one of strings.
      let json = Command.json(value, form, like: elements.hasSuffix("\"") ? "\"\"" : nil)
      guard PreferenceText.compacted(json) != nil else {
        throw UsageError(message: "\(value.debugDescription) is not one JSON value; for a string add --string")
      }
      try changes.set(json: "[\(elements)\(elements.isEmpty ? "" : ",")\(json)]", forKey: key)
    }
  }

  /// The value of an argument, which `-` reads from the standard input.
  private func argument(_ value: String) throws -> String {
    guard value == "-" else { return value }
    guard var text = String(validating: try Console.readAll(), as: UTF8.self) else {
      throw UsageError(message: "the standard input is not UTF-8, as values are")
    }
    if text.hasSuffix("\n") { text.removeLast() }
    return text
  }

  /// The JSON text of a value, which is a string without quotes if the kept value is a string.
  ///
  /// A JSON string has its quotes already, and `null` removes.
  private static func json(_ value: String, _ form: ValueForm, like kept: String?) -> String {
    switch form {
    case .json: return value
    case .string: return PreferenceText.quoted(value)
    case .kept:
      let isString = kept?.hasPrefix("\"") == true && value != "null" && PreferenceText.string(of: value) == nil
      return isString ? PreferenceText.quoted(value) : value
    }
  }

  private func delete(_ key: String, from store: FilePreferenceStore) throws -> ExitCode {
    guard try store.json(forKey: key) != nil else { return missing(key) }
    try store.removeValue(forKey: key)
    return .success
  }

  private func rename(_ key: String, to newKey: String, in store: FilePreferenceStore) throws -> ExitCode {
    let isFound = try store.transaction { changes in
      guard try changes.json(forKey: key) != nil else { return false }
      if key != newKey, try changes.json(forKey: newKey) != nil {
        throw UsageError(message: "there is a key \(newKey.debugDescription) already; delete it first")
      }
      return try changes.moveValue(forKey: key, to: newKey)
    }
    return isFound ? .success : missing(key)
  }

  private func find(_ text: String, in store: FilePreferenceStore) throws -> ExitCode {
    let text = text.lowercased()
    let keys = try store.keys.filter { key in
      if key.lowercased().contains(text) { return true }
      return try store.json(forKey: key)?.lowercased().contains(text) == true
    }
    try dump(keys, of: store)
    return keys.isEmpty ? .notFound : .success
  }

  private func missing(_ key: String) -> ExitCode {
    Console.complain("there is no key \(key.debugDescription)")
    return .notFound
  }

  private func export(_ store: FilePreferenceStore, of path: FilePath, to target: FilePath?) throws {
    let json = store.json()
    guard let target, target != "-" else { return try Console.write(String(json.dropLast())) }
    try Export(target, insteadOf: path).write(json)
  }

  private func importValues(from source: FilePath, into store: FilePreferenceStore) throws {
    let result =
      source == "-" || source == "/dev/stdin"
      ? try store.importValues(try Console.readAll(), from: "standard input") : try store.importValues(from: source)
    if Console.isTerminal { try Console.write("\(result.count) keys") }
  }

  /// Ends with an error if there are no notices: silence would mean that nothing changes.
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

// MARK: Export

/// A file that everything is exported to, readable by its owner only.
struct Export {
  private let target: FilePath
  private let isReplaced: Bool
  private let system = PosixFileSystem()

  /// - Throws: `UsageError` if the target is the store's own file.
  init(_ target: FilePath, insteadOf store: FilePath) throws {
    var status: FileStatus?
    var path = target
    do throws(SystemError) {
      // Through symbolic links, as every other program writes.
      path = try system.resolve(target)
      status = try system.status(atPath: path)
    } catch {
      guard error.isMissing else { throw Export.failure(error, target) }
    }
    let identity: FileIdentity
    do throws(SystemError) {
      identity = try system.status(atPath: try system.resolve(store)).snapshot.identity
    } catch {
      throw Export.failure(error, store)
    }
    if status?.snapshot.identity == identity {
      throw UsageError(message: "\(target) is the file that is exported; choose another target")
    }
    self.target = path
    isReplaced = status == nil || status?.kind == .file
  }

  /// Writes a new file and gives it the target's name, so that a reader of an older one sees all of one or of the other.
  ///
  /// What isn't a file, such as a device, is written to as it is.
  func write(_ text: String) throws {
    let path = isReplaced ? target + ".new-\(UInt32.random(in: 0 ... .max))" : target
    do throws(SystemError) {
      let file = try system.open(path, for: isReplaced ? .creating : .appending)
      defer { system.close(file) }
      do throws(SystemError) {
        try system.appendAll(Array(text.utf8), to: file)
        guard isReplaced else { return }
        try system.synchronize(file)
        try system.rename(path, to: target)
      } catch {
        if isReplaced { try system.remove(path) }
        throw error
      }
    } catch {
      throw Export.failure(error, target)
    }
  }

  private static func failure(_ error: SystemError, _ path: FilePath) -> any Error {
    PreferenceError(
      .unwritable, "nothing was exported; check that there is room, and the right to write", path: path.description,
      underlying: error)
  }
}
