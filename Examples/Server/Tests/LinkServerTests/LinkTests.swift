import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import LinkCore
import LinkServer
import Logging
import PreferenceStorage
import SpellRegistry
import SpellTesting
import StandardKeys
import Testing

@Suite("Links", .service(), .timeLimit(.minutes(1))) struct LinkTests {
  @Test("A link is created, followed, counted and removed")
  func life() async throws {
    try await Service.run { service in
      let created = try await service.create("swift", user: "ada")
      #expect(created.status == .created)
      #expect(created.headers[.location] == "/links/swift")
      for _ in 1...3 {
        let response = try await service.send(.get, "/l/swift")
        #expect(response.status == .found)
        #expect(response.headers[.location] == "https://swift.org")
      }
      let link = try await service.send(.get, "/links/swift").link()
      #expect(link.owner == "ada")
      #expect(link.visits == 3)
      #expect(try await service.send(.delete, "/links/swift", user: "ada").status == .noContent)
      #expect(try await service.send(.get, "/l/swift").status == .notFound)
    }
  }

  @Test("A link without a wish has a code that the generator chooses")
  func randomCode() async throws {
    try await Service.run { service in
      let response = try await service.send(.post, "/links", body: #"{"url": "https://swift.org"}"#)
      var random = RandomSource(seed: 0)
      #expect(try response.link().code == Link.randomCode(using: &random))
    }
  }

  @Test(
    "A link that isn't valid is refused with a reason",
    arguments: ["javascript:alert(1)", "https://", "swift.org", "https://a/" + String(repeating: "b", count: 3000)])
  func invalid(url: String) async throws {
    try await Service.run { service in
      let response = try await service.create("x", url)
      #expect(response.status == .unprocessableContent)
      #expect(response.text.contains("A url begins with"))
    }
  }

  @Test("A code is taken once, and a link is its owner's")
  func ownership() async throws {
    try await Service.run { service in
      try await service.create("mine", user: "ada")
      #expect(try await service.create("mine", user: "grace").status == .conflict)
      #expect(try await service.send(.delete, "/links/mine", user: "grace").status == .forbidden)
      #expect(try await service.send(.get, "/links", user: "ada").text.contains("mine"))
      #expect(try await service.send(.get, "/links", user: "grace").text == "[]")
      #expect(try await service.create("no spaces").status == .unprocessableContent)
    }
  }

  @Test("Each request has a user, a number, and a logger that carries both")
  func requestRegistry() async throws {
    let log = try InitializerRegistry.current.resolve(InMemoryLogHandler.self)
    try await Service.run { service in
      let users = (0..<50).map { "user\($0)" }
      let numbers = try await withThrowingTaskGroup(of: (String, String?).self) { group in
        for user in users {
          group.addTask { (user, try await service.create(user, user: user).header("X-Request-ID")) }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      #expect(Set(numbers.values).count == users.count)
      let lines = log.entries.filter { $0.message == "Created a link" }
      #expect(lines.count == users.count)
      for line in lines {
        let user = try #require(line.metadata["user"]).description
        #expect(line.metadata["code"]?.description == user)
        #expect(line.metadata["hb.request.id"]?.description == numbers[user])
      }
    }
  }

  @Test("A response has the number of its request, even if the request was refused")
  func numbers() async throws {
    let log = try InitializerRegistry.current.resolve(InMemoryLogHandler.self)
    try await Service.run { service in
      var responses = [
        try await service.send(.get, "/nothing"), try await service.send(.get, "/links/none"),
        try await service.send(.post, "/links", body: "{"), try await service.send(.get, "/admin"),
      ]
      #expect(responses.map(\.status) == [.notFound, .notFound, .badRequest, .unauthorized])
      let store: any PreferenceStore = try InitializerRegistry.current.resolve()
      try store.set(1, forKey: "rateLimit")
      responses.append(try await service.send(.get, "/"))
      #expect(responses.last?.status == .tooManyRequests)
      try store.set(true, forKey: "maintenance")
      responses.append(try await service.send(.get, "/"))
      #expect(responses.last?.status == .serviceUnavailable)
      let numbers = responses.compactMap { $0.header("X-Request-ID") }
      #expect(Set(numbers).count == responses.count)
      let line = try #require(log.entries.last { $0.message == "Request" })
      #expect(line.metadata["hb.request.id"]?.description == numbers.last)
    }
  }

  @Test("A link that can't be written isn't there, and the error is in the log")
  func unwritable() async throws {
    let log = try InitializerRegistry.current.resolve(InMemoryLogHandler.self)
    try await Service.run { service in
      let journal: LinkJournal = try InitializerRegistry.current.resolve()
      try journal.close()
      let response = try await service.create("a")
      #expect(response.status == .internalServerError)
      #expect(response.header("X-Request-ID") != nil)
      #expect(try await service.send(.get, "/links/a").status == .notFound)
      #expect(log.entries.contains { $0.message == "The request failed" })
    }
  }

  @Test(
    "A name that could forge a line of the log isn't one",
    arguments: ["a\tb", "a b", "a\nb", "", String(repeating: "x", count: 33)])
  func invalidUser(name: String) { #expect(User(name) == nil) }

  @Test("The metrics count what was created and followed")
  func metrics() async throws {
    try await Service.run { service in
      try await service.create("a")
      try await service.create("b")
      _ = try await service.send(.get, "/l/a")
      let lines = try await service.send(.get, "/metrics").text.split(separator: "\n")
      #expect(lines.contains("links 2.0"))
      #expect(lines.contains("links_created_total 2.0"))
      #expect(lines.contains("links_followed_total 1.0"))
    }
  }
}
