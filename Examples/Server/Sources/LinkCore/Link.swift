#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import HTTPTypes
public import Hummingbird

/// A short link, with the number of times that it was followed.
public struct Link: ResponseCodable, Hashable, Sendable {
  /// The last part of the short address, such as `swift` in `/l/swift`.
  public let code: String
  /// The address that the link leads to.
  public let url: String
  /// The name of the user who created the link.
  public let owner: String
  /// The number of times that the link was followed.
  public internal(set) var visits: Int

  /// Creates a link that hasn't been followed yet.
  public init(code: String, url: String, owner: String) {
    self.code = code
    self.url = url
    self.owner = owner
    visits = 0
  }

  /// Checks that the code can be part of an address, and that `url` is an HTTP or HTTPS address.
  ///
  /// - Throws: ``LinkError`` with the reason.
  public func validate() throws(LinkError) {
    guard (1...32).contains(code.utf8.count), code.utf8.allSatisfy(Self.isFitForCode) else {
      throw .invalid("A code has 1 to 32 letters of the English alphabet, digits, \"-\" and \"_\".")
    }
    guard url.utf8.count <= 2048, let parts = URLComponents(string: url), parts.host?.isEmpty == false,
      ["http", "https"].contains(parts.scheme?.lowercased())
    else {
      throw .invalid("A url begins with \"http://\" or \"https://\" and a host, and has 2,048 bytes at most.")
    }
  }

  private static func isFitForCode(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Returns a random code of seven letters and digits.
  public static func randomCode(using generator: inout some RandomNumberGenerator) -> String {
    let letters = Array("abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    return String((0..<7).map { _ in letters.randomElement(using: &generator) ?? "a" })
  }
}

/// The body of a request to create a link.
public struct NewLink: Decodable, Sendable {
  /// The address that the link leads to.
  public let url: String
  /// The code that the user wants, or nil for a random code.
  public let code: String?
}

/// The reason that a link can't be created, found or removed.
public enum LinkError: Error, Hashable {
  /// The code or the address isn't valid, for the given reason.
  case invalid(String)
  /// Another link has the code.
  case taken(String)
  /// No link has the code.
  case missing(String)
  /// The link belongs to another user.
  case notOwned(String)
}

extension LinkError: HTTPResponseError {
  /// The HTTP status of the response to the failed request.
  public var status: HTTPResponse.Status {
    switch self {
    case .invalid: .unprocessableContent
    case .taken: .conflict
    case .missing: .notFound
    case .notOwned: .forbidden
    }
  }

  private var message: String {
    switch self {
    case .invalid(let reason): reason
    case .taken(let code): "The code \"\(code)\" is taken. Choose another one, or leave it out."
    case .missing(let code): "There is no link \"\(code)\"."
    case .notOwned(let code): "The link \"\(code)\" belongs to another user."
    }
  }

  /// Returns a response with the reason as JSON.
  public func response(from request: Request, context: some RequestContext) throws -> Response {
    try HTTPError(status, message: message).response(from: request, context: context)
  }
}
