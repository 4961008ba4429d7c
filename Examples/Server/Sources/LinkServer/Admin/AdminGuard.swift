import Foundation
import HTTPTypes
public import Hummingbird

/// A guard that asks for the password of the admin page, and refuses forms from other sites.
public struct AdminGuard: RouterMiddleware {
  private let token: String

  /// Creates a guard that asks for a password, with the user name "admin".
  public init(token: String) { self.token = token }

  /// Lets a request pass, or throws an error with the status 401 or 403.
  public func handle(
    _ request: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    guard isAuthorized(request) else {
      throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"admin\", charset=\"UTF-8\""])
    }
    // A browser sends the password even with another site's form, but also a header that says where the form is from.
    let site = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
    guard request.method == .get || ["same-origin", "none", nil].contains(site) else {
      throw HTTPError(.forbidden, message: "The form is of another site.")
    }
    return try await next(request, context)
  }

  private func isAuthorized(_ request: Request) -> Bool {
    let expected = "Basic " + Data("admin:\(token)".utf8).base64EncodedString()
    let given = request.headers[.authorization] ?? ""
    // The comparison takes the same time wherever the two differ.
    var difference = expected.utf8.count ^ given.utf8.count
    for (left, right) in zip(expected.utf8, given.utf8) { difference |= Int(left ^ right) }
    return difference == 0
  }
}
