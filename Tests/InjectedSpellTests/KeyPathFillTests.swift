import InjectedSpell
import SpellRegistry
import TestSupport
import Testing

@Suite("Filling by key path", .timeLimit(.hang)) struct KeyPathFillTests {
  final class Analytics: Sendable {}
  final class Controller {
    var analytics: Analytics?
    var title = "untitled"
    var box: ServiceBox?
    var custom: AnyObject?
  }

  @Test("sets properties of any kind, with no wrapper, and says what it set")
  func fill() {
    let (box, analytics, controller) = (ServiceBox(), Analytics(), Controller())
    box.register(analytics, named: "analytics")
    box.register("home", named: "title")
    box.register(7, named: "number")
    let report = box.fill(
      controller, ("analytics", \.analytics), ("title", \.title), ("serviceBox", \.box), ("number", \.title),
      ("nothing", \.custom))
    #expect(controller.analytics === analytics)
    #expect(controller.title == "home")
    #expect(controller.box === box)
    #expect(report.filled == ["analytics", "title", "serviceBox"])
    #expect(report.mismatched == ["number"])
    #expect(report.missing == ["nothing"])
  }

  @Test("a class in which reflection shows nothing to fill is in the report, and once on the standard error")
  func nothingToFill() async throws {
    final class Plain { var analytics: Analytics? }
    final class Hidden: CustomReflectable {
      @Injected var analytics: Analytics?
      var customMirror: Mirror { Mirror(self, children: [:]) }
    }
    #expect(ServiceBox().fill(Plain()).note?.contains("Plain") == true)
    #expect(ServiceBox().fill(Hidden()).note?.contains("custom mirror") == true)
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for _ in 0..<3 { ServiceBox().fill(Hidden()) }
    }
    let message = text(result.standardErrorContent)
    #expect(message.ranges(of: "Warning: Reflection shows no @Injected property in Hidden").count == 1)
  }

  @Test("an actor is filled on the actor, from within or from elsewhere")
  func actors() async {
    actor Worker {
      @Injected var analytics: Analytics?
      func fill(from box: ServiceBox) -> [String] { box.fill(self).filled }
    }
    let box = ServiceBox()
    box.register(Analytics(), named: "analytics")
    #expect(await Worker().fill(from: box) == ["analytics"])
    let worker = Worker()
    #expect(await box.fill(worker).filled == ["analytics"])
    #expect(await worker.analytics != nil)
  }
}
