public import Hummingbird
public import LinkCore
public import Logging
public import SpellRegistry

/// The current request, as an injectable value.
public struct CurrentRequest: Sendable {
  /// The request's number, which is in the log and in the response header `X-Request-ID` (see
  /// `RequestNumberMiddleware`).
  public let id: String
  /// The user who sent the request.
  public let user: User
  /// A logger whose lines have the request's number and user.
  public let logger: Logger
}

/// A middleware that gives each request its own registry, in which the request's ``CurrentRequest`` is registered.
///
/// While a request is handled, any service can get the current request with `@Injected` instead of from an argument.
public struct RequestRegistryMiddleware: RouterMiddleware {
  private let registry: InitializerRegistry

  /// Creates the middleware.
  ///
  /// - Parameter registry: The parent registry, which provides all other services.
  public init(registry: InitializerRegistry) { self.registry = registry }

  /// Handles a request, with a child registry as the current registry.
  public func handle(
    _ request: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    let user = User(of: request)
    var context = context
    context.logger[metadataKey: "user"] = "\(user.name)"
    let child = registry.child {
      $0.register(.instance(CurrentRequest(id: context.id, user: user, logger: context.logger)))
    }
    return try await child.run { try await next(request, context) }
  }
}
