import Foundation

/// A folder for the files of one benchmark's process.
enum TemporaryFolder {
  private static let url = FileManager.default.temporaryDirectory.appending(path: "spells-\(getpid())")

  /// Returns the place of a file in a folder that only its owner can write.
  static func file(_ name: String) throws -> URL {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return url.appending(path: name)
  }

  static func remove() { try? FileManager.default.removeItem(at: url) }
}
