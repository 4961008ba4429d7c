import PreferenceStorage
internal import Support

/// A command of the tool, which works on one file.
enum Command: Equatable {
  case list, watch, check
  case get(key: String, isText: Bool)
  case set(key: String, value: String, ValueForm)
  case delete(key: String)
  case edit(key: String?)
  case export(path: FilePath?)
  case `import`(path: FilePath)
}

/// The form of a value in an argument.
enum ValueForm: Equatable {
  /// Text if the present value of the key is a text, and JSON otherwise.
  case kept
  case json
  case text
}

extension Command {
  /// Runs the command, and returns the exit code.
  func run(on path: FilePath) async throws -> ExitCode {
    if !mayBeNew, !exists(path) {
      Console.complain("\(path): no such file")
      return .notFound
    }
    let store = try FilePreferenceStore(path: path, followsOthers: false)
    if self == .check { return try check(store) }
    if let recovery = store.recovery { Console.complain("\(path) was damaged: \(recovery)") }
    switch self {
    case .list: for key in store.keys { try Console.write(Console.shown(key)) }
    case .get(let key, let isText):
      guard let value = try store.json(forKey: key) else { return Command.missing(key) }
      try Console.write(isText ? PreferenceText.string(of: value) ?? value : value)
    case .set(let key, let value, let form): try set(key, to: value, form, in: store)
    case .delete(let key):
      guard try store.json(forKey: key) != nil else { return Command.missing(key) }
      try store.removeValue(forKey: key)
    case .edit(let key): return try Editing(store: store, key: key).run()
    case .export(let target): try export(store, of: path, to: target)
    case .import(let source): try importValues(from: source, into: store)
    case .watch: return try await watch(store)
    case .check: break
    }
    return .success
  }

  /// Whether the command also works if the file doesn't exist yet.
  private var mayBeNew: Bool {
    switch self {
    case .set, .import, .watch: true
    default: false
    }
  }

  private func exists(_ path: FilePath) -> Bool {
    // If the path can't be examined, opening the file will report the reason.
    do throws(SystemError) { return try FileSystem().find(path) != nil } catch { return true }
  }

  static func missing(_ key: String) -> ExitCode {
    Console.complain("there is no key \(key.debugDescription)")
    return .notFound
  }

  /// Sets a value, which is read from the standard input if the argument is `-`.
  ///
  /// A key with a text gets another text, which may be in JSON's quotes or without them; `null` removes the text.
  private func set(_ key: String, to value: String, _ form: ValueForm, in store: FilePreferenceStore) throws {
    let isInput = value == "-"
    let value = isInput ? try Console.readText() : value
    let json = PreferenceText.compacted(value)
    let isJSONString = json.map { PreferenceText.string(of: $0) != nil } ?? false
    let isText = try form == .text || form == .kept && store.json(forKey: key)?.hasPrefix("\"") == true
    if form == .text || isText && !isJSONString && value != "null" { return try store.set(value, forKey: key) }
    guard let json else {
      let name = isInput ? "the input" : value.debugDescription
      throw UsageError(message: "\(name) is not one JSON value; for a text add --string")
    }
    try store.transaction { try $0.set(json: json, forKey: key) }
  }

  private func export(_ store: FilePreferenceStore, of path: FilePath, to target: FilePath?) throws {
    let json = store.json()
    guard let target, target != "-" else { return try Console.write(String(json.dropLast())) }
    try Export(target: target, store: path).write(json)
  }

  private func importValues(from source: FilePath, into store: FilePreferenceStore) throws {
    let isInput = source == "-" || source == "/dev/stdin"
    let bytes = try isInput ? Console.readAll() : source.contents()
    _ = try store.importValues(bytes, from: isInput ? "standard input" : source.description)
  }

  /// Writes each change of a value until the program is interrupted.
  ///
  /// Ends with an error if the file can't be watched, because silence would mean that nothing changes.
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
            try Console.write("\(Console.shown(key))\t\(try store.json(forKey: key) ?? "null")")
          }
        }
        return .success
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .success
    }
  }

  private func check(_ store: FilePreferenceStore) throws -> ExitCode {
    try Console.write(store.recovery?.description ?? "sound: \(store.keys.count) keys")
    return store.recovery == nil ? .success : .damaged
  }
}

// MARK: Export

/// The target of an export; a file that the export creates is readable only by its owner.
struct Export {
  let target: FilePath
  /// The path of the file that is exported, which must not be the target.
  let store: FilePath
  private let system = FileSystem()

  /// Replaces the target with a new file, so that a reader sees either the whole old file or the whole new file.
  ///
  /// If the target is a pipe, a device or a link, the text is written into it instead.
  func write(_ text: String) throws {
    let bytes = Array(text.utf8)
    let failure = "nothing was exported; check that there is room, and the right to write"
    let isOwn = try onFile(target, failure) { () throws(SystemError) -> Bool in
      let own = try system.status(atPath: try system.resolve(store)).identity
      let status = try system.find(target)
      if status?.identity == own { return true }
      if status == nil || status?.kind == .file {
        try replace(by: bytes)
        return false
      }
      let file = try openDescriptor(target, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      defer { system.close(file) }
      let found = try system.status(of: file)
      if found.identity == own { return true }
      if found.kind == .file { try system.truncate(file, to: 0) }
      try system.appendAll(bytes, to: file)
      return false
    }
    if isOwn { throw UsageError(message: "\(target) is the file that is exported; choose another target") }
  }

  private func replace(by bytes: [UInt8]) throws(SystemError) {
    let path = target + ".new-\(UInt32.random(in: 0 ... .max))"
    let file = try system.open(path, for: .creating)
    defer { system.close(file) }
    do throws(SystemError) {
      try system.appendAll(bytes, to: file)
      try system.synchronize(file)
      try system.rename(path, to: target)
    } catch {
      try system.remove(path)
      throw error
    }
  }
}
