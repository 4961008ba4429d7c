import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import LinkCore
import LinkServer
import PreferenceStorage
import SpellRegistry
import SpellTesting
import StandardKeys
import Synchronization
import Testing

@Suite("Settings", .service(), .timeLimit(.minutes(1))) struct SettingsTests {
  private var store: any PreferenceStore { get throws { try InitializerRegistry.current.resolve() } }

  @Test("A change of a setting is seen by the next request")
  func live() async throws {
    try await Service.run { service in
      #expect(try await service.send(.get, "/").text == "Hello, guest. Links: 0.\n")
      try store.set("Good morning", forKey: "greeting")
      #expect(try await service.send(.get, "/", user: "ada").text == "Good morning, ada. Links: 0.\n")
      try store.set(true, forKey: "maintenance")
      let response = try await service.send(.get, "/")
      #expect(response.status == .serviceUnavailable)
      #expect(response.headers[.retryAfter] == "60")
      #expect(try await service.send(.get, "/ready").status == .ok)
      try store.removeValue(forKey: "maintenance")
      #expect(try await service.send(.get, "/").status == .ok)
    }
  }

  @Test("A user who sends too many requests waits for the next minute, and others don't")
  func rateLimit() async throws {
    let seconds = Mutex(10)
    InitializerRegistry.current.register(.now) {
      { Date(timeIntervalSince1970: TimeInterval(seconds.withLock(\.self))) }
    }
    try await Service.run { service in
      try store.set(2, forKey: "rateLimit")
      for _ in 1...2 { #expect(try await service.send(.get, "/", user: "ada").status == .ok) }
      let refused = try await service.send(.get, "/", user: "ada")
      #expect(refused.status == .tooManyRequests)
      #expect(refused.headers[.retryAfter] == "50")
      #expect(try await service.send(.get, "/", user: "grace").status == .ok)
      seconds.withLock { $0 = 60 }
      #expect(try await service.send(.get, "/", user: "ada").status == .ok)
      #expect(try await service.send(.get, "/metrics").text.contains("requests_limited_total 1.0\n"))
    }
  }

  @Test(
    "A value that isn't one of the setting's is kept and reported, and the default applies",
    arguments: [#""many""#, "0", "1.5", "[1]", "true"])
  func refused(json: String) async throws {
    try await Service.run { service in
      let folder = try Folder()
      let file = folder.url.appending(path: "settings.json")
      try Data("{\"rateLimit\":\(json)}".utf8).write(to: file)
      try store.import(from: file)
      #expect(try await service.send(.get, "/").status == .ok)
      #expect(try store.json(forKey: "rateLimit") == json)
      let page = try await service.adminPage().text
      let shown = json.replacingOccurrences(of: "\"", with: "&quot;")
      #expect(page.contains("<code>\(shown)</code> is refused and kept; 600 applies."))
    }
  }

  @Test("The form saves what it changes, and stores nothing else")
  func save() async throws {
    try await Service.run { service in
      let saved = try await service.save("maintenance=true&greeting=Good+day+%26+night&rateLimit=600")
      #expect(saved.status == .seeOther)
      #expect(saved.headers[.location] == "/admin")
      #expect(try store.keys.sorted() == ["greeting", "maintenance"])
      #expect(try store.value(String.self, forKey: "greeting") == "Good day & night")
      let page = try await service.adminPage().text
      #expect(page.contains(#"value="Good day &amp; night""#))
      #expect(page.contains(#"value="true" checked>"#))
      // A browser doesn't send a checkbox that is off.
      _ = try await service.save("loaded.maintenance=true&greeting=Good+day+%26+night&rateLimit=600")
      #expect(try store.value(Bool.self, forKey: "maintenance") == false)
      #expect(try await service.save("reset=greeting").status == .seeOther)
      #expect(try store.keys == ["maintenance"])
      #expect(try await service.save("reset=unknown").status == .badRequest)
    }
  }

  @Test("A form that was loaded before another change saves only what its user changed")
  func staleForm() async throws {
    try await Service.run { service in
      let loaded = "loaded.maintenance=false&loaded.greeting=Hello&loaded.rateLimit=600"
      #expect(
        try await service.adminPage().text.contains(#"<input type="hidden" name="loaded.greeting" value="Hello">"#))
      _ = try await service.save("\(loaded)&maintenance=true&greeting=Closed&rateLimit=600")
      _ = try await service.save("\(loaded)&greeting=Hello&rateLimit=1000")
      #expect(try store.value(String.self, forKey: "greeting") == "Closed")
      #expect(try store.value(Bool.self, forKey: "maintenance") == true)
      #expect(try store.value(Int.self, forKey: "rateLimit") == 1_000)
      // A refused form is shown again with its original loaded values.
      let refused = try await service.save("\(loaded)&greeting=Hello&rateLimit=many").text
      #expect(refused.contains(#"name="loaded.greeting" value="Hello">"#))
      #expect(refused.contains(#"name="greeting" value="Hello""#))
    }
  }

  @Test("A request with a part of the form, as of a script, changes nothing else")
  func partOfForm() async throws {
    try await Service.run { service in
      _ = try await service.save("maintenance=true")
      _ = try await service.save("greeting=Welcome")
      #expect(try store.value(Bool.self, forKey: "maintenance") == true)
      #expect(try store.keys.sorted() == ["greeting", "maintenance"])
    }
  }

  @Test("A form with a refused value changes nothing, and is shown again as it was entered, with the reason")
  func refusedForm() async throws {
    try await Service.run { service in
      let response = try await service.save("maintenance=true&greeting=Welcome&rateLimit=%3Cb%3E0")
      #expect(response.status == .unprocessableContent)
      #expect(try store.keys.isEmpty)
      #expect(response.text.contains(#"name="rateLimit" value="&lt;b&gt;0""#))
      #expect(response.text.contains(#"name="greeting" value="Welcome""#))
      #expect(response.text.contains("That was refused. Write a whole number from 1 to"))
      #expect(try await service.send(.get, "/metrics").text.contains("settings_refused_total 1.0\n"))
    }
  }

  @Test("The admin page needs the password, and takes no form of another site")
  func admission() async throws {
    try await Service.run { service in
      let refused = try await service.send(.get, "/admin")
      #expect(refused.status == .unauthorized)
      #expect(refused.headers[.wwwAuthenticate]?.hasPrefix("Basic") == true)
      let wrong = "Basic " + Data("admin:secre!".utf8).base64EncodedString()
      #expect(try await service.send(.get, "/admin", headers: [.authorization: wrong]).status == .unauthorized)
      #expect(try await service.save("maintenance=true", site: "cross-site").status == .forbidden)
      #expect(try store.keys.isEmpty)
    }
  }

  @Test("The admin page shows the launch, the dependencies, and whose request it is")
  func pictures() async throws {
    try await Service.run { service in
      let response = try await service.adminPage()
      #expect(response.status == .ok)
      #expect(response.text.matches(of: /<svg\b/).count == 2)
      #expect(response.text.contains(">cache</text>"))
      #expect(response.text.contains(">LinkController</text>"))
      #expect(response.text.contains(">LinkStore</text>"))
      #expect(!response.text.contains("class=\"missing\""))
      #expect(response.text.contains("Request: <code>\(response.header("X-Request-ID") ?? "–")</code>"))
    }
  }
}
