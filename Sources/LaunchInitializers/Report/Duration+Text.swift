extension Duration {
  /// Whole nanoseconds; the most that there are, where it is more.
  var nanoseconds: Int {
    let (seconds, attoseconds) = components
    let (whole, isTooMuch) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooMuchAfterAll) = whole.addingReportingOverflow(Int(attoseconds / 1_000_000_000))
    return isTooMuch || isTooMuchAfterAll ? (self < .zero ? .min : .max) : sum
  }

  /// For a person: three digits that matter, and a unit.
  var text: String {
    let nanoseconds = nanoseconds
    guard nanoseconds > 0 else { return nanoseconds == 0 ? "0 s" : "-\((Duration.zero - self).text)" }
    // Beyond three digits, a number of the smallest unit that has them.
    var step = 1
    while nanoseconds / step >= 1_000 { step *= 10 }
    let rounded = step > 1_000_000_000 ? nanoseconds : (nanoseconds + step / 2) / step * step
    let (unit, name) =
      switch rounded {
      case ..<1_000: (1, "ns")
      case ..<1_000_000: (1_000, "µs")
      case ..<1_000_000_000: (1_000_000, "ms")
      default: (1_000_000_000, "s")
      }
    return "\(Duration.decimal(rounded, per: unit, digits: 2)) \(name)"
  }

  /// For a program: seconds, to the nanosecond.
  var seconds: String { Duration.decimal(nanoseconds, per: 1_000_000_000, digits: 9) }

  /// A whole number of small units as a decimal number of large ones, cut off after some digits.
  private static func decimal(_ number: Int, per unit: Int, digits: Int) -> String {
    let whole = number / unit
    // With the unit added, the zeros in front are there.
    let rest = String(unit + abs(number % unit)).dropFirst()
    var fraction = String(rest.prefix(digits))
    while fraction.last == "0" { fraction.removeLast() }
    let sign = number < 0 && whole == 0 ? "-" : ""
    return sign + String(whole) + (fraction.isEmpty ? "" : "." + fraction)
  }
}
