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

  /// The text, padded with spaces to a number of characters.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
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
