import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Page {
  var path = "first"
  var log: [String] = []
  @Lazy({ (page: Page) in Service(page.path) }) var service: Service
  @Lazy({ (page: Page) in page.service.label + "!" }) var title: String
  @Lazy({ (page: Page) in page.path }) var withoutType
  @Lazy({ (page: Page) in page.path }, onInjection: Page.hear) var method: String
  @Lazy({ (page: Page) in page.path }, onInjection: { (page: Page, path) in page.log.append("closure \(path)") })
  var closure: String
  func hear(_ path: String) { log.append("method \(path)") }
}
private final class Article: Page {
  @Lazy({ (page: Page) in page.path + " article" }) var ofSuperclass: String
  @Lazy({ (article: Article) in article.ofSuperclass.uppercased() }) var loud: String
}

@MainActor private final class Window {
  var path = "first"
  @Lazy({ (window: Window) in Service(window.path) }, onInjection: Window.hear) var service: Service
  func hear(_ service: Service) { path += service.label }
}

private actor Worker {
  let name = "worker"
  var path = "first"
  @Lazy({ (worker: isolated Worker) in worker.path.count }) var count: Int
  @Lazy({ (worker: Worker) in worker.name }) var title: String
  func read() -> [String] {
    path = "second"
    return ["\(count)", title]
  }
}

// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Shared: @unchecked Sendable {
  let made = Counter()
  @Lazy({ (shared: Shared) in "\(shared.made.increment())" }) var text: String
}

private final class Loop {
  static let line = #line + 1
  @Lazy({ (loop: Loop) in loop.second }) var first: Int
  @Lazy({ (loop: Loop) in loop.first }) var second: Int
}

private final class Stranger {
  @Lazy({ (page: Page) in page.path }) var path: String
}
private struct Values {
  @Lazy({ (page: Page) in page.path }) var path: String
}

@Suite("An expression that gets the object", .registry, .timeLimit(.hang)) struct ObjectExpressionTests {
  private var registry: InitializerRegistry { .current }

  @Test("runs at the first read, and again only after a reset")
  func runsAtTheFirstRead() {
    let page = Page()
    page.path = "second"
    #expect(page.service.label == "second")
    page.path = "third"
    #expect(page.service.label == "second")
    #expect(page.title == "second!")
    page.$service.reset()
    #expect(page.service.label == "third")
    #expect(page.withoutType == "third")
    page.withoutType = "assigned"
    #expect(page.withoutType == "assigned")
  }

  @Test("calls the hook of its property")
  func callsTheHook() {
    let page = Page()
    #expect(page.method + page.closure == "firstfirst")
    #expect(page.log == ["method first", "closure first"])
  }

  @Test("gets an object of a subclass")
  func getsASubclass() {
    let article = Article()
    #expect(article.loud == "FIRST ARTICLE")
    #expect(article.service.label == "first")
  }

  @Test("runs on the main actor for a main-actor object")
  @MainActor func runsOnTheMainActor() {
    let window = Window()
    window.path = "second"
    #expect(window.service.label == "second")
    #expect(window.path == "secondsecond")
  }

  @Test("runs on the actor for an actor")
  func runsOnTheActor() async {
    #expect(await Worker().read() == ["6", "worker"])
  }

  @Test("runs once for a thousand first readers")
  func runsOnce() async {
    let shared = Shared()
    #expect(Set(await race(1_000) { _ in shared.text }) == ["1"])
    #expect(shared.made.value == 1)
  }

  @Test("gives way to a registration for the object's class, and not to one for its type")
  func givesWay() {
    registry.register { Service("type") }
    #expect(Page().service.label == "first")
    registry.register(Service.self, .in(Page.self, subclasses: true) { Service($0.path + " registered") })
    #expect(Article().service.label == "first registered")
  }

  @Test("doesn't keep the object alive")
  func keepsNothing() {
    weak var page: Page?
    do {
      let made = Page()
      page = made
      #expect(made.title == "first!")
    }
    #expect(page == nil)
  }

  @Test("that needs itself stops the program with its path")
  func needsItself() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Loop().first
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("for Loop.first (LazySpellTests/ObjectExpressionTests.swift:\(Loop.line))"))
    #expect(message.contains("needs its own result"))
  }

  @Test("for another class, or in a struct, stops the program with a message")
  func stopsForAnotherClass() async throws {
    let stranger = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Stranger().path
    }
    let message = text(stranger.standardErrorContent)
    #expect(message.contains("in Stranger has an expression for Page. Write the expression for the class"))
    let values = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Values().path
    }
    #expect(
      text(values.standardErrorContent).contains(
        "has an expression for Page, but it is in a struct or is a local variable"))
  }
}
