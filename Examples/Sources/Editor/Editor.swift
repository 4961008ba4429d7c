import EditorCore
import Spellbook

@main enum Program {
  static func main() async throws {
    let registry = InitializerRegistry.shared
    registry.registerEditor()
    // Loads the dictionary in advance, because an injected property can't wait for it.
    _ = try await registry.resolveAsync(.dictionary)
    // The user's own words extend the dictionary, whatever language it has.
    registry.decorate(.dictionary) { $0.adding(["spellbook"]) }

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
    // Nothing ends the shared registry, so the program says when what it keeps is closed.
    registry.removeAll()
  }
}

/// A plugin that needs a service that this editor doesn't have.
final class CloudSync: Plugin {
  @Injected private var account: Account

  func inspect(_ document: Document) { account.upload(document.text) }
}

/// An account on a server.
struct Account: Sendable { func upload(_ text: String) {} }
