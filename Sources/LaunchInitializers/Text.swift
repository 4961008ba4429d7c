// Text of steps for a terminal and a log, and times as text.

extension String {
  /// The text with escapes such as `\u{1b}` for what a terminal would act on: control characters, line breaks, and marks
  /// that change the direction of writing.
  ///
  /// An id or an error so can't move the cursor, set a title or forge a line of the log.
  var escaped: String {
    if isPlain || !unicodeScalars.contains(where: \.needsEscape) { return self }
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

  /// Whether the text consists of printable ASCII, as most does.
  private var isPlain: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }

  /// The number of columns that the text takes in a terminal.
  var displayWidth: Int { isPlain ? utf8.count : reduce(0) { $0 + $1.displayWidth } }

  /// The text, padded with spaces to a number of columns.
  func padded(to width: Int) -> String {
    let missing = width - displayWidth
    return missing > 0 ? self + String(repeating: " ", count: missing) : self
  }
}

extension Unicode.Scalar {
  fileprivate var needsEscape: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    // Format characters, except those that join emoji and letters.
    case .format: return value != 0x200C && value != 0x200D && !(0xE0020...0xE007F).contains(value)
    default: return false
    }
  }
}

extension Character {
  /// The number of columns: 2 for East Asian wide characters and emoji, 0 for a mark without a base, 1 for all others.
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

// MARK: Times

extension Duration {
  /// Whole nanoseconds, clamped to the range of `Int64`.
  ///
  /// Not `Int`: with 32 bits, as on a watch, that would end at 2.1 seconds.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooMuchAfterAll) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return isTooMuch || isTooMuchAfterAll ? (self < .zero ? .min : .max) : sum
  }

  /// The duration for a person: three significant digits and a unit.
  var text: String {
    let nanoseconds = nanoseconds
    guard nanoseconds > 0 else { return nanoseconds == 0 ? "0 s" : "-\((Duration.zero - self).text)" }
    // The power of ten to round to.
    var step: Int64 = 1
    while nanoseconds / step >= 1_000 { step *= 10 }
    let rounded = step > 1_000_000_000 ? nanoseconds : (nanoseconds + step / 2) / step * step
    let (unit, name): (Int64, String) =
      switch rounded {
      case ..<1_000: (1, "ns")
      case ..<1_000_000: (1_000, "µs")
      case ..<1_000_000_000: (1_000_000, "ms")
      default: (1_000_000_000, "s")
      }
    return "\(Duration.decimal(rounded, per: unit, digits: 2)) \(name)"
  }

  /// The duration for a program: seconds, to the nanosecond.
  var seconds: String { Duration.decimal(nanoseconds, per: 1_000_000_000, digits: 9) }

  /// A number of small units as a decimal number of large ones, truncated after some digits.
  private static func decimal(_ number: Int64, per unit: Int64, digits: Int) -> String {
    let whole = number / unit
    // Adding the unit keeps leading zeros.
    let rest = String(unit + abs(number % unit)).dropFirst()
    var fraction = String(rest.prefix(digits))
    while fraction.last == "0" { fraction.removeLast() }
    let sign = number < 0 && whole == 0 ? "-" : ""
    return sign + String(whole) + (fraction.isEmpty ? "" : "." + fraction)
  }
}
