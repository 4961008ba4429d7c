import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PreferenceStorage

/// A file system on which an editor renames its own files to a path, each while a new file is synchronized.
///
/// `@unchecked Sendable`: `edits` is in a lock, and nothing else changes.
private final class EditedFileSystem: FileSystem, @unchecked Sendable {
  private let edits: Mutex<[URL]>
  private let path: FilePath

  init(_ edits: [URL], at path: FilePath) {
    self.edits = Mutex(edits)
    self.path = path
  }

  override func synchronize(_ file: Int32) throws(SystemError) {
    try super.synchronize(file)
    if let edit = edits.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      try super.rename(FilePath(edit.path), to: path)
    }
  }
}

/// Tests of a file that another program renames to the path while a rewrite does the same.
@Suite("A file that takes the path during a rewrite", .timeLimit(.hang)) struct ReplacementTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  func open(_ system: FileSystem) throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: system)
  }

  @Test("keeps it, and the store has the file's values from then on")
  func edited() throws {
    let edit = folder.file("edit")
    try edit.overwrite("#preferences 1\n{\"edited\":1}\n")
    try open(FileSystem()).set(1, forKey: "own")
    let store = try open(EditedFileSystem([edit], at: FilePath(file.path)))
    let error = #expect(throws: PreferenceError.self) { try store.compact() }
    #expect(error?.description.contains("put another file in its place") == true)
    #expect(try file.text == "#preferences 1\n{\"edited\":1}\n")
    #expect(try folder.names == [file.lastPathComponent])
    try store.reload()
    #expect(store.keys == ["edited"])
    try store.set(2, forKey: "own")
    try store.compact()
    #expect(try open(FileSystem()).json() == store.json())
  }
}
