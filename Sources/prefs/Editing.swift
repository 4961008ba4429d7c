import PreferenceStorage
internal import Support

/// A session in which the user edits all values of a store, or one value, in a text editor.
struct Editing {
  let store: FilePreferenceStore
  /// The key of the value to edit; nil for all values.
  let key: String?
  var system = FileSystem()

  /// Runs the editor, and writes the edited values to the store.
  ///
  /// Nothing is written if the edited text isn't JSON, or if another program has changed one of the edited values. In
  /// both cases, the file with the edited text is kept.
  func run() throws -> ExitCode {
    var original = store.json()
    if let key {
      guard let value = try store.json(forKey: key) else { return Command.missing(key) }
      original = value + "\n"
    }
    let file = try makeFile(with: original)
    guard runEditor(on: file) else {
      Console.complain("the editor failed, and nothing was changed; what it has saved is in \(file)")
      return .inputOutput
    }
    if try onFile(file, "is gone", { () throws(SystemError) in try system.find(file) }) == nil {
      Console.complain("the editor removed \(file), so nothing was changed")
      return .inputOutput
    }
    do {
      if let failure = try takeOver(file, insteadOf: original) { return failure }
    } catch {
      Console.complain("nothing was changed, and what was saved is kept in \(file)")
      throw error
    }
    try onFile(file, "could not be removed after the edit, which is done; remove it") { () throws(SystemError) in
      try system.remove(file)
    }
    return .success
  }

  /// Writes the edited values to the store.
  ///
  /// - Returns: Nil after a success, or the exit code of a failure.
  private func takeOver(_ file: FilePath, insteadOf original: String) throws -> ExitCode? {
    guard let edited = String(validating: try file.contents(), as: UTF8.self) else {
      throw PreferenceError(.unreadable, "is not UTF-8; nothing was changed", path: file.description)
    }
    if edited != original {
      guard let old = members(of: original), let new = members(of: edited) else {
        Console.complain("what was saved is not JSON, and nothing was changed; it is kept in \(file)")
        return .damaged
      }
      guard try write(new, insteadOf: old) else {
        Console.complain("another program has changed what was edited; nothing was changed, and it is kept in \(file)")
        return .busy
      }
    }
    return nil
  }

  /// Writes the edited values, unless another program has changed one of them.
  ///
  /// - Returns: Whether the values were written.
  private func write(_ new: [String: String?], insteadOf old: [String: String?]) throws -> Bool {
    try store.transaction { changes in
      let edited = Set(old.keys).union(new.keys).filter { (old[$0] ?? nil) != (new[$0] ?? nil) }
      // The values in `old` are compact, but a value in the store's file may contain spaces that a person has written.
      for key in edited {
        let json = try changes.json(forKey: key)
        guard json.flatMap({ JSONText(validating: $0)?.string }) == old[key] ?? nil else { return false }
      }
      for key in edited.sorted() {
        if let json = new[key] ?? nil {
          try changes.set(json: json, forKey: key)
        } else {
          changes.removeValue(forKey: key)
        }
      }
      return true
    }
  }

  private func members(of text: String) -> [String: String?]? {
    guard let key else {
      // If several members have the same name, the last of them counts.
      let members = JSONText(text).withBytes(JSONText.members)
      return members.map { Dictionary($0.map { ($0.key, $0.json) }) { _, last in last } }
    }
    guard let value = JSONText(validating: text)?.string else { return nil }
    return [key: value == "null" ? nil : value]
  }

  /// Creates a file that only its owner can read, in the folder for temporary files.
  private func makeFile(with text: String) throws -> FilePath {
    let folder = getenv("TMPDIR").map { FilePath(String(cString: $0)) } ?? "/tmp"
    let path = folder.appending(FilePath("prefs-\(UInt32.random(in: 0 ... .max)).json"))
    try onFile(path, "could not be made for the editor") { () throws(SystemError) in
      let file = try system.open(path, for: .creating)
      defer { system.close(file) }
      try system.writeAll(Array(text.utf8), to: file)
    }
    return path
  }

  /// Runs the editor in a shell, and returns whether the editor succeeded.
  ///
  /// A shell is necessary because `$VISUAL` and `$EDITOR` may contain arguments and quotes.
  private func runEditor(on file: FilePath) -> Bool {
    let quoted = file.description.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    return runShell("file='\(quoted)'; eval \"${VISUAL:-${EDITOR:-vi}}\" '\"$file\"'") == 0
  }

}

// This function is outside `Editing`, whose property `system` would hide the function `system(_:)`.
private func runShell(_ command: String) -> Int32 {
  // Apple platforms other than macOS have neither a shell nor the function `system(_:)`.
  #if canImport(Darwin) && !os(macOS)
    return -1
  #else
    return system(command)
  #endif
}
