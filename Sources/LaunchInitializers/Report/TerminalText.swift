// Text that steps supply, made fit for a terminal and a log.

extension String {
  /// The text with what a terminal would act on written as `\u{1b}`: control characters, line breaks, and the marks
  /// that turn the direction of writing.
  ///
  /// So an id or an error can't move the cursor, set a title or forge a line of the log.
  var escaped: String {
    guard unicodeScalars.contains(where: \.needsEscape) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if !scalar.needsEscape {
        text.unicodeScalars.append(scalar)
      } else if scalar == "\n" {
        text += "\\n"
      } else {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
  }

  /// The escaped text in quotes.
  var quoted: String { "\"\(escaped)\"" }

  /// How many columns a terminal needs for the text.
  var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

  /// The text, filled up with spaces to a number of columns.
  func padded(to width: Int) -> String {
    let missing = width - displayWidth
    return missing > 0 ? self + String(repeating: " ", count: missing) : self
  }
}

extension Unicode.Scalar {
  fileprivate var needsEscape: Bool {
    // Nearly all text, decided without a look at the tables.
    if value >= 0x20, value < 0x7F { return false }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    // Format characters but those that emoji and scripts are joined with.
    case .format: return value != 0x200C && value != 0x200D && !(0xE0020...0xE007F).contains(value)
    default: return false
    }
  }
}

extension Character {
  /// 2 for what East Asian fonts and emoji fill two columns with, 0 for a mark without a base, else 1 (after Unicode's
  /// East Asian Width).
  fileprivate var displayWidth: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if first.value < 0x300 { return 1 }
    if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
      0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: break
    }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return 1
    }
  }
}
