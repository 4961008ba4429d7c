import HTTPTypes
public import Hummingbird
import LinkCore
import Logging
public import SpellRegistry

/// The number of a request, which is in the log and in the header `X-Request-ID` of the response.
public struct RequestNumber: Hashable, Sendable, CustomStringConvertible {
  /// The number as text.
  public let description: String
}

/// Gives each request a registry, in which the user, the number and the logger are those of the request.
///
/// The services below the middleware ask for them with `@Injected`, wherever they are, and nothing hands them on.
public struct RequestRegistryMiddleware<Context: RequestContext>: RouterMiddleware {
  private static var header: HTTPField.Name? { HTTPField.Name("X-Request-ID") }

  private let registry: InitializerRegistry

  /// Creates the middleware.
  ///
  /// - Parameter registry: The registry that has the rest.
  public init(registry: InitializerRegistry) { self.registry = registry }

  /// Handles a request in a registry of its own.
  public func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let user = User(of: request)
    let number = RequestNumber(description: context.id)
    var context = context
    context.logger[metadataKey: "user"] = "\(user.name)"
    let child = registry.child {
      $0.register(instance: user)
      $0.register(instance: number)
      $0.register(instance: context.logger)
    }
    var response = try await child.run { try await next(request, context) }
    if let header = Self.header { response.headers[header] = number.description }
    return response
  }
}
