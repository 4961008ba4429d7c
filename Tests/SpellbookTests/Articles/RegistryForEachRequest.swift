import SpellTesting
import Spellbook
import Synchronization
import TestSupport
import Testing

/// The code samples of the article with this name.
@Suite("A registry for each request", .timeLimit(.hang)) struct RegistryForEachRequest {
  struct Request: Sendable {
    let path: String
    var headers: [String: String] = [:]
  }
  struct Response: Sendable, Equatable { var body: String }
  struct User: Sendable { let name: String }
  typealias Handler = @Sendable (Request) async throws -> Response

  protocol Middleware: Sendable {
    func handle(
      _ request: Request, next: Handler
    ) async throws -> Response
  }

  struct RegistryMiddleware: Middleware {
    let registry: InitializerRegistry

    func handle(
      _ request: Request, next: Handler
    ) async throws -> Response {
      let name = request.headers["user"] ?? "guest"
      let child = registry.child {
        $0.register(.instance(request))
        $0.register(.instance(User(name: name)))
      }
      return try await child.run { try await next(request) }
    }
  }

  final class Database: Sendable {
    private let count = Atomic(0)
    func visit() -> Int {
      count.add(1, ordering: .relaxed).newValue
    }
  }

  final class Page {
    @Injected var request: Request
    @Injected var user: User
    @Injected var database: Database

    func render() -> Response {
      _ = database.visit()
      return Response(body: "\(request.path) for \(user.name)")
    }
  }

  final class AuditLog: Sendable {
    let user = Injected<User>(.everyRead)
    func line(_ text: String) -> String {
      "\(user.value.name): \(text)"
    }
  }

  static func registerServices(in registry: InitializerRegistry) {
    registry.register(scope: .singleton) { Database() }
    registry.register(scope: .singleton) { AuditLog() }
    registry.register { User(name: "nobody") }
  }

  let server = InitializerRegistry()
  init() { Self.registerServices(in: server) }

  @Test func givesEachRequestItsOwnValues() async throws {
    let middleware = RegistryMiddleware(registry: server)
    let request = Request(path: "/cart", headers: ["user": "Ada"])
    let response = try await middleware.handle(request) { _ in
      Page().render()
    }
    #expect(response.body == "/cart for Ada")
  }

  @Test("a thousand requests at once have a thousand registries, and one database")
  func manyAtOnce() async throws {
    let middleware = RegistryMiddleware(registry: server)
    let bodies = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<1_000 {
        group.addTask {
          let request = Request(path: "/\(number)", headers: ["user": "\(number)"])
          return try await middleware.handle(request) { _ in
            let page = Page()
            await Task.yield()
            return page.render()
          }.body
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(bodies == Set((0..<1_000).map { "/\($0) for \($0)" }))
    #expect(try server.resolve(Database.self).visit() == 1_001)
  }

  @Test("what the server keeps gets nothing of a request, unless it asks at each read")
  func kept() throws {
    let log = try server.resolve(AuditLog.self)
    let child = server.child { $0.register(.instance(User(name: "Ada"))) }
    #expect(child.run { log.line("paid") } == "Ada: paid")
    #expect(log.line("closed") == "nobody: closed")
    #expect(try child.resolve(AuditLog.self) === log)
  }

  @Test("a request's registry is released with the request")
  func released() {
    weak var released: InitializerRegistry?
    do {
      let child = server.child { $0.register(.instance(User(name: "Ada"))) }
      released = child
      child.run { _ = Page().user }
    }
    #expect(released == nil)
  }

  @Test("a value of the request is made once if the child keeps it")
  func madeOnce() throws {
    let child = server.child {
      $0.register(scope: .singleton) { Database() }
    }
    let own = try child.resolve(Database.self)
    #expect(try child.resolve(Database.self) === own)
    #expect(try server.resolve(Database.self) !== own)
  }
}
