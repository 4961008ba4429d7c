import HTTPTypes
public import Hummingbird
import Logging
import NIOHTTP1

/// A middleware that adds the request's number to each response, even if the request failed.
///
/// The number is in the header `X-Request-ID`. The middleware comes first, so it sees the errors of all other
/// middleware. An error that doesn't define a response is logged, and the response has the status 500.
public struct RequestNumberMiddleware<Context: RequestContext>: RouterMiddleware {
  /// Creates the middleware, which has no settings.
  public init() {}

  /// Handles a request, and adds the request's number to the response.
  public func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response = try await response(to: request, context, next)
    if let header = HTTPField.Name("X-Request-ID") { response.headers[header] = context.id }
    return response
  }

  private func response(
    to request: Request, _ context: Context, _ next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do { return try await next(request, context) } catch let error as any HTTPResponseError {
      return try error.response(from: request, context: context)
    } catch let error as HTTPParserError {
      // The server itself responds to input that isn't HTTP, and closes the connection.
      throw error
    } catch {
      context.logger.error("The request failed", metadata: ["error": "\(error)"])
      return try HTTPError(.internalServerError, message: "The request failed. See the log of the server.")
        .response(from: request, context: context)
    }
  }
}
