extension String {
  /// The number of columns that the text takes in most terminals.
  package var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }
}

extension Character {
  fileprivate var displayWidth: Int {
    // An accent or a skin color is drawn over the letter or picture to which it is joined, and takes no column of its
    // own.
    if unicodeScalars.contains(where: { $0.isWide || $0.asksForPicture }) { return 2 }
    return unicodeScalars.contains { !$0.isInvisible } ? 1 : 0
  }
}

extension Unicode.Scalar {
  /// Whether the scalar turns the preceding scalar into an emoji, which is two columns wide.
  fileprivate var asksForPicture: Bool { value == 0xFE0F }

  fileprivate var isInvisible: Bool {
    properties.isDefaultIgnorableCodePoint
      || [.control, .format, .nonspacingMark, .enclosingMark].contains(properties.generalCategory)
  }

  /// Whether the scalar is two columns wide, such as an emoji or a character of an East Asian script.
  fileprivate var isWide: Bool {
    if properties.isEmojiPresentation { return true }
    return switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}
