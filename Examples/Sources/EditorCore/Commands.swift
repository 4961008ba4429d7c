import Spellbook

/// A type that performs one command of the editor's menu.
package protocol Command {
  var title: String { get }
  func perform(on document: Document)
}

/// A command that removes leading spaces and capitalizes each line.
///
/// Its two steps share an `EditGroup`, so one undo reverts both steps.
struct TidyUp: Command {
  let title = "Tidy up"
  let trim: Trim
  let capitalize: Capitalize

  func perform(on document: Document) {
    trim.perform(on: document)
    capitalize.perform(on: document)
  }
}

/// A command that removes the spaces before each line.
struct Trim: Command {
  let title = "Remove spaces"
  let group: EditGroup

  func perform(on document: Document) {
    document.replace(with: document.text.eachLine { $0.drop { $0 == " " } }, in: group)
  }
}

/// A command that capitalizes each line.
struct Capitalize: Command {
  let title = "Capitalize"
  let group: EditGroup

  func perform(on document: Document) {
    document.replace(with: document.text.eachLine { $0.prefix(1).uppercased() + $0.dropFirst() }, in: group)
  }
}

extension String {
  /// Returns the text with `change` applied to each line.
  func eachLine(_ change: (Substring) -> some StringProtocol) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map { String(change($0)) }.joined(separator: "\n")
  }
}

/// A type that exports a document in one format.
package protocol Exporter: Sendable { func export(_ document: Document) -> String }

struct HTMLExporter: Exporter {
  func export(_ document: Document) -> String { "<p>\(document.text.replacing("\n", with: "<br>"))</p>" }
}
struct MarkdownExporter: Exporter {
  func export(_ document: Document) -> String { "# \(document.name)\n\n\(document.text)" }
}
