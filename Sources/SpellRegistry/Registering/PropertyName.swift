internal import Support

/// The names of the properties that a registration is for.
///
/// A string literal is an exact name, as with ``equal(to:)``:
///
/// ```swift
/// registry.register(Int.self, named: "port") { 80 }
/// registry.register(Int.self, named: .containing("timeout")) { 30 }
/// ```
public enum PropertyName: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The registration is for properties with exactly this name.
  case equal(to: String)
  /// The registration is for properties whose name contains this text, ignoring case.
  ///
  /// In one registry, a registration with a matching ``equal(to:)`` takes precedence over a registration with
  /// `containing` if both are for the same containers.
  case containing(String)

  /// Creates a name that has to match exactly, as with ``equal(to:)``.
  public init(stringLiteral name: String) { self = .equal(to: name) }

  /// Returns the rank of a match: 0 for an equal name, 1 for a name that contains the text, nil for no match.
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

  /// The name as an argument in source code, such as `"port"` or `.containing("timeout")`.
  package var source: String { if case .equal = self { "\"\(text)\"" } else { ".containing(\"\(text)\")" } }
}
