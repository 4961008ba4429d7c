internal import Foundation

/// A file with the text that was edited last, which is left behind only if the program crashes.
package final class RecoveryFile: Sendable {
  private let path = URL.temporaryDirectory.appending(path: UUID().uuidString).path

  init() {}

  package var exists: Bool { FileManager.default.fileExists(atPath: path) }

  func save(_ document: Document) throws { try Data(document.text.utf8).write(to: URL(filePath: path)) }

  func discard() { try? FileManager.default.removeItem(atPath: path) }
}
