import Foundation
import PreferenceStorage

/// A file that one store watches and another store writes, as if it belonged to another process.
private struct Watched {
  let folder: TemporaryFolder
  let store: FilePreferenceStore
  let url: URL
  let changes: PreferenceChanges

  init(at path: String = "app/settings.preferences") throws {
    folder = try TemporaryFolder()
    url = folder.file(path)
    store = try FilePreferenceStore(url: url)
    try store.set(0, forKey: "n")
    changes = store.changes()
  }

  /// Writes a value as another process would.
  func write(_ value: Int) throws {
    try FilePreferenceStore(path: FilePath(url.path), system: FileSystem()).set(value, forKey: "n")
  }

  /// Waits until the store has the value.
  func hears(_ value: Int) async throws -> Bool {
    try await soon { [store, changes] in
      var changes = changes.makeAsyncIterator()
      while try store.value(Int.self, forKey: "n") != value {
        if await changes.next() == nil { return false }
      }
      return true
    }
  }
}

private func move(_ url: URL, to name: String) throws {
  try FileManager.default.moveItem(at: url, to: url.deletingLastPathComponent().appending(path: name))
}

@MainActor func checkWatch() async {
  await check("a store hears of what another process writes") {
    let file = try Watched()
    try file.write(1)
    guard try await file.hears(1) else { return false }
    try file.write(2)
    return try await file.hears(2)
  }
  await check("a store hears of a file that replaces its own") {
    let file = try Watched()
    let other = file.folder.file("other.preferences")
    try FilePreferenceStore(url: other).set(1, forKey: "n")
    try FileSystem().rename(FilePath(other.path), to: FilePath(file.url.path))
    guard try await file.hears(1) else { return false }
    try file.write(2)
    return try await file.hears(2)
  }
  await check("a store hears of a file that is made again after its folder was removed") {
    let file = try Watched()
    for round in 1...3 {
      try FileManager.default.removeItem(at: file.url.deletingLastPathComponent())
      try file.write(round)
      guard try await file.hears(round) else { return false }
    }
    return true
  }
  await check("a store hears of a file that is made again after its folder was renamed") {
    let file = try Watched()
    for round in 1...3 {
      try move(file.url.deletingLastPathComponent(), to: "old\(round)")
      try file.write(round)
      guard try await file.hears(round) else { return false }
    }
    return true
  }
  await check("a store hears of a file whose folder's folder was renamed") {
    let file = try Watched(at: "group/app/settings.preferences")
    let group = file.url.deletingLastPathComponent().deletingLastPathComponent()
    try move(group, to: "old")
    try file.write(1)
    guard try await file.hears(1) else { return false }
    try FileManager.default.removeItem(at: group)
    try move(group.deletingLastPathComponent().appending(path: "old"), to: "group")
    return try await file.hears(0)
  }
  await check("a watch that ends closes its files") {
    let before = try openFileCount()
    for _ in 0..<10 {
      let file = try Watched()
      try file.write(1)
      _ = try await file.hears(1)
    }
    return try await soon {
      while try openFileCount() > before { try await Task.sleep(for: .milliseconds(10)) }
      return true
    }
  }
}
