extension String {
  /// The text with escapes such as `\u{1b}` for control characters, line breaks and most format characters.
  ///
  /// Format characters include marks that change the direction of writing. With these escapes, an ID or an error
  /// message can't move the cursor, set the terminal's title or forge a line of the log.
  var escaped: String {
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if !scalar.needsEscape {
        text.unicodeScalars.append(scalar)
      } else {
        text += scalar == "\n" ? "\\n" : "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
  }

  /// The text in quotes, with escapes such as `\u{1b}` for control characters.
  var quoted: String { "\"\(escaped)\"" }
}

extension Unicode.Scalar {
  fileprivate var needsEscape: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    // Format characters need an escape, with two exceptions: U+200C and U+200D control the joining of letters and
    // emoji, and U+E0020 to U+E007F are the tags in flags.
    case .format: return value != 0x200C && value != 0x200D && !(0xE0020...0xE007F).contains(value)
    default: return false
    }
  }
}
