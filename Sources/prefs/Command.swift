import PreferenceStorage
internal import Support

/// A command of the `prefs` tool, with its parsed arguments.
enum Command: Equatable {
  case list, check, compact
  case get(keys: [String], isText: Bool)
  case set(key: String, value: String, ValueForm)
  case delete(key: String)
  case rename(key: String, to: String)
  case edit(key: String?)
  case export(path: FilePath?, keys: [String])
  case `import`(path: FilePath, replaces: Bool)
  case watch(key: String?)
  case overrides(prefix: String)
}

/// The form of a value in an argument.
enum ValueForm: Equatable {
  /// The form depends on the current value of the key.
  ///
  /// If the current value is a string, the argument is text, with or without JSON's quotes. Otherwise, the argument is
  /// JSON.
  case kept
  case json
  case text
}

extension Command {
  /// Runs the command on the file at the path, and returns the exit code.
  func run(on path: FilePath) async throws -> ExitCode {
    if !mayBeNew, !exists(path) { return Command.missing(path) }
    let store = try FilePreferenceStore(path: path, folder: Command.folder(of: path), followsOthers: false)
    if self == .check { return try check(store) }
    if let recovery = store.recovery {
      let isBegunByHand = recovery.isOnlyWithoutFirstLine
      Console.complain("\(path) \(isBegunByHand ? "" : "was damaged: ")\(recovery)")
    }
    switch self {
    case .list:
      for key in store.keys { if let value = try store.json(forKey: key) { try Console.write(key, value) } }
    case .get(let keys, let isText):
      for key in keys {
        guard let value = try store.json(forKey: key) else { return Command.missing(key) }
        try Console.write(isText ? JSONText(value).characters ?? value : value)
      }
    case .set(let key, let value, let form): try set(key, to: value, form, in: store)
    case .delete(let key):
      guard try store.json(forKey: key) != nil else { return Command.missing(key) }
      try store.removeValue(forKey: key)
    case .rename(let key, let new): return try rename(key, to: new, in: store)
    case .edit(let key): return try Editing(store: store, key: key).run()
    case .export(let target, let keys): return try export(keys, of: store, at: path, to: target)
    case .import(let source, let replaces): return try importValues(from: source, into: store, replacing: replaces)
    case .watch(let key): return try await watch(store, key)
    case .overrides(let prefix): try showOverrides(.environment(prefix: prefix), of: store)
    case .compact: try store.compact()
    case .check: break
    }
    return .success
  }

  /// Returns `.trusted` for a path in the folder that the variable `PREFERENCES_FOLDER` names, as for the standard store.
  private static func folder(of path: FilePath) -> FilePreferenceStore.Folder {
    // What can't be resolved isn't there yet, or opening the file reports why.
    func resolved(_ folder: FilePath) -> FilePath? { try? FileSystem().resolve(folder) }
    guard let name = getenv("PREFERENCES_FOLDER").map({ FilePath(String(cString: $0)) }), name.isAbsolute,
      let trusted = resolved(name),
      let folder = ([path.folder] + path.folder.ancestors.reversed()).lazy.compactMap(resolved).first
    else { return .private }
    return folder == trusted || folder.ancestors.contains(trusted) ? .trusted : .private
  }

  /// Whether the command also works without an existing file.
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

  private static func missing(_ file: FilePath) -> ExitCode {
    Console.complain("\(file): no such file")
    return .notFound
  }

  /// Sets the value of a key to `value`, or to the text of the standard input if `value` is `-`.
  ///
  /// If `form` is `.kept` and the current value of the key is a string, the new value is also a string, and
  /// `value` may omit JSON's quotes. Unless `form` is `.text`, `null` removes the current value.
  private func set(_ key: String, to value: String, _ form: ValueForm, in store: FilePreferenceStore) throws {
    let isInput = value == "-"
    let value = isInput ? try Console.readText() : value
    let json = JSONText(validating: value)
    let isJSONString = json?.characters != nil
    // The bytes are compared, since an accent at the beginning of a string combines with the quotation mark before it.
    let isText = try form == .text || form == .kept && store.json(forKey: key)?.utf8.first == UInt8(ascii: "\"")
    if form == .text || isText && !isJSONString && value != "null" { return try store.set(value, forKey: key) }
    guard let json else {
      let name = isInput ? "the input" : value.utf8.count > 80 ? "the value" : value.debugDescription
      throw UsageError(
        message: "\(name) is not one JSON value, of at most 511 levels; for a text add --string")
    }
    try store.transaction { try $0.set(json: json.string, forKey: key) }
  }

  private func rename(_ key: String, to new: String, in store: FilePreferenceStore) throws -> ExitCode {
    try store.transaction { changes in
      guard try changes.json(forKey: key) != nil else { return Command.missing(key) }
      guard try changes.json(forKey: new) == nil else {
        throw UsageError(message: "the key \(new.debugDescription) has a value already; delete it first")
      }
      try changes.moveValue(forKey: key, to: new)
      return .success
    }
  }

  private func export(
    _ keys: [String], of store: FilePreferenceStore, at path: FilePath, to target: FilePath?
  ) throws -> ExitCode {
    if let missing = try keys.first(where: { try store.json(forKey: $0) == nil }) { return Command.missing(missing) }
    let json = keys.isEmpty ? store.json() : store.json(ofKeys: keys)
    if let target, target != "-" {
      try Export(target: target, store: path).write(json)
    } else {
      try Console.write(String(json.dropLast()))
    }
    return .success
  }

  private func importValues(
    from source: FilePath, into store: FilePreferenceStore, replacing: Bool
  ) throws -> ExitCode {
    let isInput = source == "-" || source == "/dev/stdin"
    guard isInput || exists(source) else { return Command.missing(source) }
    let bytes = try isInput ? Console.readAll() : Command.contents(of: source)
    _ = try store.importValues(bytes, from: isInput ? "standard input" : source.description, replacing: replacing)
    return .success
  }

  /// Returns the bytes of a file or a pipe, such as the pipe that a shell creates for `<(command)`.
  private static func contents(of source: FilePath) throws -> [UInt8] {
    let system = FileSystem()
    let found = try onFile(source, "could not be found") { () throws(SystemError) in try system.find(source) }
    // For `<(command)`, a shell passes a path such as `/dev/fd/63`. On Linux, this path is a link to a pipe, which has
    // no path of its own.
    guard let found, found.kind == .link || found.kind == .other else { return try source.contents() }
    let pipe = try onFile(source, "could not be read") { () throws(SystemError) in
      try openDescriptor(source, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    }
    defer { system.close(pipe) }
    return try Console.readAll(from: pipe, named: source.description)
  }

  /// Prints the overridden keys of the file, each with the overriding value and the source of the override.
  private func showOverrides(_ overrides: PreferenceOverrides, of store: FilePreferenceStore) throws {
    let overriding = OverridingPreferenceStore(overrides, over: store)
    var unused = overrides.sources
    for key in store.keys {
      guard let found = overriding.override(forKey: key) else { continue }
      unused.removeAll { $0 == found.source }
      try Console.write(key, "\(found.json ?? "null")\t\(found.source)")
    }
    for source in unused { Console.complain("the file has no key for \(source)") }
  }

  /// Prints the changes of one key, or of all keys if `key` is nil, until the tool is interrupted.
  ///
  /// The command ends with an error if the file can't be watched, because silence would suggest that nothing changes.
  private func watch(_ store: FilePreferenceStore, _ key: String?) async throws -> ExitCode {
    let errors = store.errors
    let records = store.records()
    return try await withThrowingTaskGroup(of: ExitCode.self) { group in
      group.addTask {
        for await error in errors {
          Console.complain(error.description)
          if error.code == .unwatchable { return .inputOutput }
        }
        return .success
      }
      group.addTask {
        for await record in records where key == nil || record.key == key {
          try Console.write(record.key, record.json ?? "null")
        }
        return .success
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .success
    }
  }

  private func check(_ store: FilePreferenceStore) throws -> ExitCode {
    let damage = try store.damage()
    try Console.write(damage?.description ?? "sound: \(store.keys.count) keys")
    return damage?.isOnlyWithoutFirstLine ?? true ? .success : .damaged
  }
}

// MARK: Export

/// An export of a store's values to `target`; a file that the export creates is readable only by its owner.
struct Export {
  let target: FilePath
  /// The path of the file that is exported, which must not be the target.
  let store: FilePath
  private let system = FileSystem()

  /// Replaces the target with a new file, so that a reader sees either the whole old file or the whole new file.
  ///
  /// If the target is a pipe, a device or a link, the text is written to the target without replacing it.
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
      try system.writeAll(bytes, to: file)
      return false
    }
    if isOwn { throw UsageError(message: "\(target) is the file that is exported; choose another target") }
  }

  private func replace(by bytes: [UInt8]) throws(SystemError) {
    // The name doesn't contain the target's, which may already be as long as a name may be.
    let path = target.folder.appending(FilePath("prefs-\(UInt32.random(in: 0 ... .max)).new"))
    let file = try system.open(path, for: .creating)
    defer { system.close(file) }
    do throws(SystemError) {
      try system.writeAll(bytes, to: file)
      try system.synchronize(file)
      try system.rename(path, to: target)
    } catch {
      try system.remove(path)
      throw error
    }
  }
}
