import Foundation
import HTTPTypes
public import Hummingbird

/// A middleware that asks for the password of the admin page, and refuses forms from other sites.
public struct AdminGuard: RouterMiddleware {
  private let token: String

  /// Creates a middleware that asks for the user name "admin", with the token as the password.
  public init(token: String) { self.token = token }

  /// Passes a request on, or throws an error with the status 401 or 403.
  public func handle(
    _ request: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    guard isAuthorized(request) else {
      throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"admin\", charset=\"UTF-8\""])
    }
    // A browser sends the password even with another site's form. This header says where the form is from.
    let site = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
    guard request.method == .get || ["same-origin", "none", nil].contains(site) else {
      throw HTTPError(.forbidden, message: "The form is of another site.")
    }
    return try await next(request, context)
  }

  private func isAuthorized(_ request: Request) -> Bool {
    let expected = "Basic " + Data("admin:\(token)".utf8).base64EncodedString()
    let given = request.headers[.authorization] ?? ""
    // All bytes are compared, so that the time doesn't reveal which of them differ.
    var difference = expected.utf8.count ^ given.utf8.count
    for (left, right) in zip(expected.utf8, given.utf8) { difference |= Int(left ^ right) }
    return difference == 0
  }
}
