import EditorCore
import Spellbook

@main enum Program {
  static func main() async throws {
    let registry = InitializerRegistry.shared
    registry.registerEditor()
    // From here on, a property gets the dictionary without waiting.
    _ = try await registry.resolveAsync(.dictionary)

    let statusLine = StatusLine()
    let editor = Editor(statusLine: statusLine)
    print("menu: \(try editor.menu.joined(separator: ", "))")

    let document = try editor.open("notes", text: "  swift is\n a brid")
    try editor.perform("tidy", on: document)
    print(editor.page(of: document))
    document.undo()
    print("undone: \(document.text.debugDescription), \(document.width) wide")

    for plugin in [WordCount(), SpellChecker(), CloudSync()] as [any Plugin] {
      do { try editor.add(plugin) } catch { print(error) }
    }
    editor.inspect(document)
    for line in statusLine.shown { print(line) }
  }
}

/// A plugin for another editor.
final class CloudSync: Plugin {
  @Injected private var account: Account

  func inspect(_ document: Document) { account.upload(document.text) }
}

/// An account on a server.
struct Account: Sendable { func upload(_ text: String) {} }
