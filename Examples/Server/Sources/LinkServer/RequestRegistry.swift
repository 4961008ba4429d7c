public import Hummingbird
public import LinkCore
public import Logging
public import SpellRegistry

/// The current request, as services get it.
public struct CurrentRequest: Sendable {
  /// The number, which is in the log and in the header `X-Request-ID` of the response; see `RequestNumberMiddleware`.
  public let id: String
  /// The user who sent the request.
  public let user: User
  /// The logger, whose lines carry the number and the user.
  public let logger: Logger
}

/// Gives each request a registry, in which ``CurrentRequest`` is that request.
///
/// Any service below the middleware gets the current request with `@Injected`, without passing it as an argument.
public struct RequestRegistryMiddleware: RouterMiddleware {
  private let registry: InitializerRegistry

  /// Creates the middleware.
  ///
  /// - Parameter registry: The registry that has everything else.
  public init(registry: InitializerRegistry) { self.registry = registry }

  /// Handles a request in its own registry.
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
