import InjectedSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Child {
  @Injected var tracker: any Tracker
}
private final class Page {
  @Injected var tracker: any Tracker
  @Injected(.everyRead) var latest: any Tracker
  func makeChild() -> Child { $tracker.registry.run { Child() } }
}
// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Service: @unchecked Sendable {
  @Injected var tracker: any Tracker
  @Injected(.everyRead) var latest: any Tracker
}

@Suite("The registry that a property asks", .registry, .timeLimit(.hang)) struct OwnershipTests {
  private func registry(_ label: String, parent: InitializerRegistry? = nil) -> InitializerRegistry {
    let registry = InitializerRegistry(parent: parent)
    registry.register((any Tracker).self) { FileTracker(label) }
    registry.register { Service() }
    return registry
  }

  @Test("a property asks the registry that created its object, without run")
  func isTheOneThatMadeItsObjectWithNoRun() throws {
    let custom = registry("custom")
    custom.register([Int].self) { [Page().tracker.label.count] }
    #expect(try custom.resolve(Service.self).tracker.label == "custom")
    #expect(try custom.resolve([Int].self) == [6])
  }

  @Test("the projection has the registry, so that an object can create others in it")
  func isToldByTheProjectionSoThatAnObjectMakesOthersInItsOwn() {
    let custom = registry("custom")
    let page = custom.run { Page() }
    #expect(page.$tracker.registry === custom)
    let child = registry("other").run { page.makeChild() }
    #expect(child.tracker.label == "custom")
    #expect(child.$tracker.registry === custom)
  }

  @Test("an object that a parent keeps asks the parent")
  func isTheParentsForWhatTheParentKeeps() throws {
    let parent = registry("parent")
    parent.register(Service.self, scope: .singleton) { Service() }
    let child = InitializerRegistry(parent: parent)
    child.register((any Tracker).self) { FileTracker("child") }
    let service = try child.run { try child.resolve(Service.self) }
    #expect(service.tracker.label == "parent")
    #expect(service.$tracker.registry === parent)
  }

  @Test("a property that asks at every read asks the request's registry")
  func atEveryReadIsTheRequests() {
    let (program, request) = (registry("program"), registry("request"))
    let page = program.run { Page() }
    #expect(request.run { page.latest.label } == "request")
    #expect(request.run { page.tracker.label } == "program")
  }

  @Test("a property that asks at every read asks its object's registry if no registry is current")
  func atEveryReadWithNoRegistryCurrentIsTheOneOfItsMaking() async {
    let program = registry("program")
    let service = program.run { Service() }
    #expect(await Task.detached { service.latest.label }.value == "program")
  }
  @Test("an object that is made in run and registered afterward keeps its registry, and one registered in run doesn't")
  func registeredAfterwards() {
    func isKept(_ body: (InitializerRegistry) -> Void) -> InitializerRegistry? {
      weak var registry: InitializerRegistry?
      do {
        let made = self.registry("made")
        registry = made
        body(made)
      }
      return registry
    }
    let kept = isKept { registry in registry.register(.instance(registry.run { Service() })) }
    #expect(kept != nil)
    kept?.removeAll()
    #expect(isKept { registry in registry.run { _ = registry.register(.instance(Service())) } } == nil)
  }
}
