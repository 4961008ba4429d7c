/// The kind of installation that a program runs in, which decides what values it gets.
///
/// Stages are open: `"beta"` is one as soon as you write it, and an extension gives it a name.
///
/// ```swift
/// extension ReleaseStage { static let beta: ReleaseStage = "beta" }
/// ```
public struct ReleaseStage: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The stage's name, as configuration files write it.
  public let rawValue: String

  /// A stage of that name; any name will do.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A stage, written as a literal.
  public init(stringLiteral name: String) { rawValue = name }

  /// The stage's name.
  public var description: String { rawValue }

  /// On a developer's machine.
  public static let development = ReleaseStage(rawValue: "development")
  /// Under test.
  public static let test = ReleaseStage(rawValue: "test")
  /// With those it is made for.
  public static let production = ReleaseStage(rawValue: "production")
}

/// Values by service, then stage, then key: `["Crash": [.production: ["ApiKey": "…"]]]`.
public typealias ServiceStorage = [String: [ReleaseStage: [String: String]]]
