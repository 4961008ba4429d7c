package import Foundation

/// A folder for one test, which is removed with this object.
package final class TemporaryFolder: Sendable {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "spellbook-\(UUID().uuidString)", directoryHint: .isDirectory)
      .resolvingSymlinksInPath()
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      // The test has already removed the folder.
    }
  }

  package func file(_ name: String = "store.preferences") -> URL { url.appending(path: name) }

  package func path(of file: String) -> String { url.appending(path: file).path }

  /// The names in the folder, sorted.
  package var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  /// Writes a file, and creates the folders around it.
  package func write(_ data: Data, to file: String) throws {
    let url = url.appending(path: file)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: url)
  }

  package func write(_ text: String, to file: String) throws { try write(Data(text.utf8), to: file) }
}
