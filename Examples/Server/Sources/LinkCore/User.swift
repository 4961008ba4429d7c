import HTTPTypes
public import Hummingbird

/// The user who sent a request.
///
/// The name comes from the header `X-User`, which a proxy in front of the service sets after authenticating the user. A
/// service that anyone can reach directly has to check a token instead.
public struct User: Hashable, Sendable {
  /// The user of a request without a valid name.
  public static let guest = User(name: "guest")

  private static let header = HTTPField.Name("X-User")

  /// The user's name, with 1 to 32 characters.
  public let name: String

  private init(name: String) { self.name = name }

  /// Creates a user with a name of 1 to 32 letters, digits, dots, dashes and underscores, or nil for any other text.
  public init?(_ name: String) {
    let isValid = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    guard isValid, (1...32).contains(name.utf8.count) else { return nil }
    self.name = name
  }

  /// Creates the user of a request, who is the guest if the request has no valid name.
  public init(of request: Request) {
    let name = Self.header.flatMap { request.headers[$0] }
    self = name.flatMap { User($0) } ?? .guest
  }
}
