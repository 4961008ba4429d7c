/// The properties that a registration is for, by their names.
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
  /// Any name with this in it, in upper or lower case. An exact name wins over it.
  case containing(String)

  /// The same as ``equal(to:)``.
  public init(stringLiteral name: String) { self = .equal(to: name) }

  /// 0 for an equal name, 1 for one that contains this, nil if it doesn't match.
  package func rank(for name: String?) -> Int? {
    guard let name else { return nil }
    switch self {
    case .equal(let expected): return name == expected ? 0 : nil
    case .containing(let part): return name.lowercased().contains(part.lowercased()) ? 1 : nil
    }
  }

  var text: String {
    switch self {
    case .equal(let name): name
    case .containing(let part): part
    }
  }

  /// The name as it is written in source.
  package var source: String { if case .equal = self { "\"\(text)\"" } else { ".containing(\"\(text)\")" } }
}
