internal import Support

/// The names of the properties that a registration is for.
///
/// A string literal means ``equal(to:)``:
///
/// ```swift
/// registry.register(Int.self, named: "port") { 80 }
/// registry.register(Int.self, named: .containing("timeout")) { 30 }
/// ```
public enum PropertyName: Sendable, Hashable, ExpressibleByStringLiteral {
  /// Exactly this name.
  case equal(to: String)
  /// Any name that contains this text, in upper or lower case; ``equal(to:)`` wins over it.
  case containing(String)

  /// Creates the same value as ``equal(to:)``.
  public init(stringLiteral name: String) { self = .equal(to: name) }

  /// Returns 0 for an equal name, 1 for a name that contains the text, and nil if there is no match.
  package func rank(for name: String?) -> Int? {
    guard let name else { return nil }
    switch self {
    case .equal(let expected): return name == expected ? 0 : nil
    case .containing(let part): return name.lowercased().contains(part: part.lowercased()) ? 1 : nil
    }
  }

  var text: String {
    switch self {
    case .equal(let name): name
    case .containing(let part): part
    }
  }

  /// The name as it is written in source code.
  package var source: String { if case .equal = self { "\"\(text)\"" } else { ".containing(\"\(text)\")" } }
}
