import Spellbook
import Synchronization

/// A type that extends the editor, with injected properties that receive the editor's services.
package protocol Plugin: AnyObject {
  func inspect(_ document: Document)
}

/// The status line below the text, which shows messages from plugins.
package final class StatusLine: Sendable {
  private let lines = Mutex<[String]>([])

  package init() {}

  package func show(_ line: String) { lines.withLock { $0.append(line) } }
  package var shown: [String] { lines.withLock { $0 } }
}

/// The clipboard, which holds the text that was copied last.
package final class Clipboard: Sendable {
  private let contents = Mutex("")

  package init() {}

  package var text: String {
    get { contents.withLock { $0 } }
    set { contents.withLock { $0 = newValue } }
  }
}

/// A plugin that counts words.
package final class WordCount: Plugin {
  @Injected private var statusLine: StatusLine

  package init() {}

  package func inspect(_ document: Document) {
    statusLine.show("\(document.name): \(document.words.count) words")
  }
}

/// A plugin that checks the spelling, and copies the unknown words to the clipboard.
package final class SpellChecker: Plugin {
  @Injected private var statusLine: StatusLine
  @Injected private var clipboard: Clipboard
  @Injected(.dictionary) private var dictionary

  package init() {}

  package func inspect(_ document: Document) {
    let unknown = dictionary.unknownWords(in: document.text)
    clipboard.text = unknown.joined(separator: " ")
    statusLine.show("\(document.name): \(unknown.count) unknown words")
  }
}
