import Spellbook
import Synchronization

/// An object that the user adds to the editor; its properties get the editor's services.
package protocol Plugin: AnyObject {
  func inspect(_ document: Document)
}

/// The place for messages below the text.
package final class StatusLine: Sendable {
  private let lines = Mutex<[String]>([])

  package init() {}

  package func show(_ line: String) { lines.withLock { $0.append(line) } }
  package var shown: [String] { lines.withLock { $0 } }
}

/// The text that was copied last.
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
    statusLine.show("\(document.name): \(document.text.split { $0.isWhitespace }.count) words")
  }
}

/// A plugin that checks the spelling, and copies unknown words.
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
