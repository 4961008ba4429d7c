import Foundation
import HTTPTypes
import NIOCore
import Hummingbird
import LinkCore
import Logging
import Metrics
import ServiceLifecycle
import Synchronization

// The service without Spellbook. Code gets its dependencies through initializers and the request's context, and a lock
// guards the settings. This version has no admin page, no health route, and no launch report, and its settings don't
// change while it runs.

/// The context of a request, with the request's user.
struct LinkContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  var user = User.guest

  init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

/// The settings, which don't change after the server has started.
final class Settings: Sendable {
  struct Values {
    var maintenance = false
    var greeting = "Hello"
    var rateLimit = 600
  }
  private let state: Mutex<Values>
  init(_ values: Values) { state = Mutex(values) }
  var values: Values { state.withLock(\.self) }
}

struct Counters: Sendable {
  let created: Counter
  let followed: Counter
  let limited: Counter

  init(_ factory: any MetricsFactory) {
    created = Counter(label: "links_created_total", factory: factory)
    followed = Counter(label: "links_followed_total", factory: factory)
    limited = Counter(label: "requests_limited_total", factory: factory)
  }
}

struct UserMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: LinkContext, next: (Request, LinkContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    context.user = User(of: request)
    context.logger[metadataKey: "user"] = "\(context.user.name)"
    return try await next(request, context)
  }
}

struct Gate: RouterMiddleware {
  let settings: Settings
  let limiter: RateLimiter
  let counters: Counters

  func handle(
    _ request: Request, context: LinkContext, next: (Request, LinkContext) async throws -> Response
  ) async throws -> Response {
    let settings = settings.values
    if settings.maintenance {
      throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "60"], message: "The service is being maintained.")
    }
    if let seconds = limiter.secondsToWait(context.user, limit: settings.rateLimit) {
      counters.limited.increment()
      context.logger.notice("Refused a request: too many in this minute")
      throw HTTPError(
        .tooManyRequests, headers: [.retryAfter: "\(seconds)"], message: "Too many requests. Wait \(seconds) seconds.")
    }
    return try await next(request, context)
  }
}

struct LinkController {
  let links: LinkStore
  let settings: Settings
  let counters: Counters

  func addRoutes(to group: RouterGroup<LinkContext>) {
    group.get("/") { _, context in
      "\(settings.values.greeting), \(context.user.name). Links: \(links.count).\n"
    }
    group.get("links") { _, context in links.links(of: context.user) }
    group.post("links") { request, context in try await create(request, context) }
    group.get("links/:code") { _, context in try links.link(context.parameters.require("code")) }
    group.delete("links/:code") { _, context in
      let code = try context.parameters.require("code")
      try links.remove(code, by: context.user)
      context.logger.info("Removed a link", metadata: ["code": "\(code)"])
      return HTTPResponse.Status.noContent
    }
    group.get("l/:code") { _, context in
      let link = try links.follow(context.parameters.require("code"))
      counters.followed.increment()
      context.logger.debug("Followed a link", metadata: ["code": "\(link.code)"])
      return Response.redirect(to: link.url, type: .found)
    }
  }

  private func create(_ request: Request, _ context: LinkContext) async throws -> EditedResponse<Link> {
    let wish = try await request.decode(as: NewLink.self, context: context)
    var random = SystemRandomNumberGenerator()
    let link = Link(code: wish.code ?? Link.randomCode(using: &random), url: wish.url, owner: context.user.name)
    try links.add(link)
    counters.created.increment()
    context.logger.info("Created a link", metadata: ["code": "\(link.code)"])
    return EditedResponse(status: .created, headers: [.location: "/links/\(link.code)"], response: link)
  }
}

/// A service that writes new visits to the journal every second, and once more when the server stops.
struct Visits: Service {
  let links: LinkStore

  func run() async throws {
    try? await cancelWhenGracefulShutdown {
      while true {
        try await Task.sleep(for: .seconds(1))
        try links.save()
      }
    }
    try links.save()
  }
}

let variables = ProcessInfo.processInfo.environment
let metrics = TextMetrics()
MetricsSystem.bootstrap(metrics)
var logger = Logger(label: "links-by-hand")
logger.logLevel = variables["LINKS_LOG_LEVEL"].flatMap { Logger.Level($0) } ?? .info

let journal = try LinkJournal(url: URL(filePath: variables["LINKS_JOURNAL_PATH"] ?? "links.journal"))
_ = try journal.rewrite()
let links = try LinkStore(journal: journal)
let settings = Settings(Settings.Values(rateLimit: variables["RATE_LIMIT"].flatMap { Int($0) } ?? 600))
let counters = Counters(metrics)

let router = Router(context: LinkContext.self)
router.add(middleware: RequestNumberMiddleware())
router.add(middleware: MetricsMiddleware())
router.add(middleware: UserMiddleware())
router.add(middleware: LogRequestsMiddleware(.info))
router.get("metrics") { _, _ in
  Meter(label: "links", factory: metrics).set(links.count)
  return metrics.text
}
let gate = Gate(settings: settings, limiter: RateLimiter(now: { Date() }), counters: counters)
LinkController(links: links, settings: settings, counters: counters)
  .addRoutes(to: router.group().add(middleware: gate))

let server = Application(
  router: router,
  server: .answeringLastRequests(within: .seconds(1)),
  configuration: ApplicationConfiguration(
    address: .hostname("127.0.0.1", port: variables["LINKS_SERVER_PORT"].flatMap { Int($0) } ?? 8080),
    serverName: "links"),
  services: [Visits(links: links)],
  onServerRunning: { [logger] channel in
    logger.notice("Listening", metadata: ["port": "\(channel.localAddress?.port ?? 0)"])
  },
  logger: logger)
try await server.runService()
try journal.close()
