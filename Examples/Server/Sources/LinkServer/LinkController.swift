import HTTPTypes
public import Hummingbird
import InjectedSpell
import LinkCore
import Logging
import Metrics
import SpellRegistry
import StandardKeys

/// A controller with the routes for links.
///
/// All requests share the controller, so it is `Sendable`, and its services are constants. A service of the server is
/// resolved once, but the current request is resolved at each read.
public final class LinkController: Sendable {
  private let links = Injected<LinkStore>()
  private let settings = Injected<Settings>()
  private let counters = Injected<Counters>()
  private let random = Injected(.randomNumberGenerator)
  private let current = Injected<CurrentRequest>(.everyRead)

  /// Creates a controller that uses the current registry.
  public init() {}

  /// Adds the controller's routes to a group.
  public func addRoutes(to group: RouterGroup<some RequestContext>) {
    group.get("/") { _, _ in self.greet() }
    group.get("links") { _, _ in self.list() }
    group.post("links") { request, context in try await self.create(request, context) }
    group.get("links/:code") { _, context in try self.show(context) }
    group.delete("links/:code") { _, context in try self.remove(context) }
    group.get("l/:code") { _, context in try self.follow(context) }
  }

  private func greet() -> String {
    "\(settings.value.greeting.text), \(current.value.user.name). Links: \(links.value.count).\n"
  }

  private func list() -> [Link] { links.value.links(of: current.value.user) }

  private func create(_ request: Request, _ context: some RequestContext) async throws -> EditedResponse<Link> {
    let wish = try await request.decode(as: NewLink.self, context: context)
    let code = wish.code ?? random.value { Link.randomCode(using: &$0) }
    let link = Link(code: code, url: wish.url, owner: current.value.user.name)
    try links.value.add(link)
    counters.value.created.increment()
    context.logger.info("Created a link", metadata: ["code": "\(code)"])
    return EditedResponse(status: .created, headers: [.location: "/links/\(code)"], response: link)
  }

  private func show(_ context: some RequestContext) throws -> Link {
    try links.value.link(context.parameters.require("code"))
  }

  private func remove(_ context: some RequestContext) throws -> HTTPResponse.Status {
    let code = try context.parameters.require("code")
    try links.value.remove(code, by: current.value.user)
    context.logger.info("Removed a link", metadata: ["code": "\(code)"])
    return .noContent
  }

  private func follow(_ context: some RequestContext) throws -> Response {
    let link = try links.value.follow(context.parameters.require("code"))
    counters.value.followed.increment()
    context.logger.debug("Followed a link", metadata: ["code": "\(link.code)"])
    return .redirect(to: link.url, type: .found)
  }
}
