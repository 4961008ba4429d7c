import HTTPTypes
public import Hummingbird
import InjectedSpell
import LinkCore
import Logging
import Metrics
import SpellRegistry

/// A middleware that refuses requests during maintenance, and requests from a user who sends too many.
///
/// The middleware reads the settings for each request, so a change applies to the next request.
public struct Gate: RouterMiddleware {
  private let settings = Injected<Settings>()
  private let limiter = Injected<RateLimiter>()
  private let counters = Injected<Counters>()
  // The registry is asked at every read, because each request has its own `CurrentRequest`.
  private let current = Injected<CurrentRequest>(.everyRead)

  /// Creates a middleware that uses the current registry.
  public init() {}

  /// Passes a request on, or throws an error with the status 503 or 429.
  public func handle(
    _ request: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    let settings = settings.value
    if settings.maintenance {
      throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "60"], message: "The service is being maintained.")
    }
    let current = current.value
    if let seconds = limiter.value.secondsToWait(current.user, limit: settings.rateLimit.rawValue) {
      counters.value.limited.increment()
      current.logger.notice("Refused a request: too many in this minute")
      throw HTTPError(
        .tooManyRequests, headers: [.retryAfter: "\(seconds)"], message: "Too many requests. Wait \(seconds) seconds.")
    }
    return try await next(request, context)
  }
}
