package import Spellbook
import Synchronization

/// An open document, with its text and the edits that can be undone.
package final class Document {
  package let name: String
  package private(set) var text: String { didSet { $words.reset() } }
  /// The words of the text, which are found when a plugin first asks for them, and again after an edit.
  @Lazy({ (document: Document) in document.text.split { $0.isWhitespace } })
  package private(set) var words: [Substring]
  let glyphs: GlyphCache
  private var undone: [(group: EditGroup, text: String)] = []

  init(name: String, text: String, glyphs: GlyphCache) { (self.name, self.text, self.glyphs) = (name, text, glyphs) }

  /// The width of the text, measured with the `GlyphCache` that all open documents share.
  package var width: Int { glyphs.width(of: text) }

  /// Replaces the text, as one edit of a group that is undone together.
  func replace(with text: String, in group: EditGroup) {
    undone.append((group, self.text))
    self.text = text
  }

  /// Undoes the last group of edits.
  package func undo() {
    guard let group = undone.last?.group else { return }
    while let last = undone.last, last.group === group {
      text = last.text
      undone.removeLast()
    }
  }
}

/// A marker that the edits of one command share, because they are undone together.
package final class EditGroup: Sendable {
  init() {}
}

/// A cache of character widths, because measuring a character takes time.
package final class GlyphCache: Sendable {
  private let widths = Mutex<[Character: Int]>([:])

  init() {}

  func width(of text: String) -> Int {
    widths.withLock { widths in
      text.reduce(0) { sum, character in
        let width = widths[character] ?? (character.isASCII ? 1 : 2)
        widths[character] = width
        return sum + width
      }
    }
  }
}

/// A dictionary of correctly spelled words.
package struct SpellingDictionary: Sendable {
  var words: Set<String>

  /// Returns a copy that also contains other words, in lowercase.
  package func adding(_ others: Set<String>) -> SpellingDictionary {
    SpellingDictionary(words: words.union(others))
  }

  /// Loads the dictionary of a language in the background.
  @concurrent static func load(_ language: String) async throws -> SpellingDictionary {
    SpellingDictionary(words: ["swift", "is", "a", "bird"])
  }

  /// Returns the words in a text that the dictionary doesn't contain.
  package func unknownWords(in text: String) -> [String] {
    text.lowercased().split { !$0.isLetter }.map(String.init).filter { !words.contains($0) }
  }
}
