import Foundation
import Spellbook
import Testing

/// The samples of the modules' own pages.
@Suite("Modules") struct Modules {
  @Test("a store keeps a value as its module's page shows")
  func preferenceStorage() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "modules-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "settings.preferences")

    let store = try FilePreferenceStore(url: file)
    try store.set(7, forKey: "volume")
    let volume = try store.value(Int.self, forKey: "volume")  // 7

    #expect(volume == 7)
  }
}
