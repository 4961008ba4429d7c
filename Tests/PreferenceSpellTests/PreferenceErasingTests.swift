import Foundation
import PreferenceSpell
import SpellTesting
import TestSupport
import Testing

extension PreferenceKeys {
  fileprivate static let token = PreferenceKey<String?>("token").erasing
}

private final class Account {
  @Preference(.token, formerly: "oldToken") var token
}

@Suite("A property with an erasing key", .registry) struct PreferenceErasingTests {
  let folder: TemporaryFolder
  let store: FilePreferenceStore

  init() throws {
    folder = try TemporaryFolder()
    store = try FilePreferenceStore(url: folder.file())
    use(store)
  }

  @Test("leaves nothing of a former value in the file, whatever replaces or removes it")
  func erased() throws {
    let account = Account()
    let ways: [(String, () throws -> Void)] = [
      ("assigned", { account.token = "new" }), ("removed", { account.token = nil }),
      ("reset", { account.$token.reset() }),
      ("set", { try account.$token.set("new") }), ("updated", { try account.$token.update { $0 = "new" } }),
    ]
    for (name, change) in ways {
      for key in ["token", "oldToken"] {
        try store.set("hunter2", forKey: key)
        try change()
        let text = try String(contentsOf: folder.file(), encoding: .utf8)
        #expect(!text.contains("hunter2"), "\(key), \(name)")
        #expect(account.$token.error == nil)
        try store.removeAll()
        try store.compact()
      }
    }
  }
}
