import PreferenceStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Command {
  /// Does it, and says how it went.
  func run(on path: String) async throws -> ExitCode {
    if !makesFile, !FileManager.default.fileExists(atPath: path) {
      Console.complain("\(path): no such file")
      return .notFound
    }
    if self == .check { return try check(path) }
    let store = try FilePreferenceStore(url: URL(filePath: path))
    if let recovery = store.recovery { Console.complain("\(path) was damaged: \(recovery)") }
    switch self {
    case .list: for key in store.keys { Console.write(Console.shown(key)) }
    case .dump: try dump(store)
    case .get(let key): return try get(key, from: store)
    case .set(let key, let json): try store.set(json: json, forKey: key)
    case .delete(let key): return try delete(key, from: store)
    case .export(let target): try export(store, to: target)
    case .import(let source): try importValues(from: source, into: store)
    case .watch: await watch(store)
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

  private func dump(_ store: FilePreferenceStore) throws {
    let keys = store.keys
    let width = min(40, keys.map { Console.shown($0).count }.max() ?? 0)
    for key in keys {
      if let value = try store.json(forKey: key) { Console.write(Console.row(key, value, keyWidth: width)) }
    }
  }

  private func get(_ key: String, from store: FilePreferenceStore) throws -> ExitCode {
    guard let value = try store.json(forKey: key) else { return missing(key) }
    Console.write(value)
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

  private func export(_ store: FilePreferenceStore, to target: String?) throws {
    let json = store.json()
    if let target {
      try Data(json.utf8).write(to: URL(filePath: target), options: .atomic)
    } else {
      Console.write(String(json.dropLast()))
    }
  }

  private func importValues(from source: String, into store: FilePreferenceStore) throws {
    let count = try store.import(from: URL(filePath: source))
    if Console.isTerminal { Console.write("\(count) keys") }
  }

  private func watch(_ store: FilePreferenceStore) async {
    for await keys in store.changes() {
      for key in keys.sorted() {
        do {
          Console.write(Console.row(key, try store.json(forKey: key) ?? "null", keyWidth: 0))
        } catch {
          Console.complain("\(error)")
        }
      }
    }
  }

  private func compact(_ store: FilePreferenceStore) throws {
    let lengths = try store.compact()
    if Console.isTerminal { Console.write("\(lengths.before) bytes before, \(lengths.after) after") }
  }

  private func check(_ path: String) throws -> ExitCode {
    let check = try FileCheck(path: path)
    for finding in check.findings {
      Console.write(finding.line > 0 ? "line \(finding.line) \(finding.explanation)" : finding.explanation)
    }
    if check.findings.isEmpty {
      Console.write(
        "sound: \(check.lineCount) lines, \(check.keyCount) keys, \(check.byteCount) bytes,"
          + " \(check.neededBytes) after a compaction")
      return .success
    }
    return .damaged
  }
}
