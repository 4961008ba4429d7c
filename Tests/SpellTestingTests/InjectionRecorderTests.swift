import InjectedSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private protocol Tracker: Sendable {}
private struct FakeTracker: Tracker { var name = "fake" }
private final class Network: Sendable {
  let tracker: any Tracker
  init(tracker: any Tracker) { self.tracker = tracker }
}
private class Page {
  @Injected var tracker: any Tracker
  @Injected(.everyRead) var network: Network
}
private final class SubPage: Page {}

@Suite("InjectionRecorder", .registry { $0.register((any Tracker).self) { FakeTracker() } }, .timeLimit(.hang))
struct InjectionRecorderTests {
  let registry = InitializerRegistry.current
  let recorder = InjectionRecorder()

  init() { registry.register(Network.self, .autowire(Network.init)) }

  @Test("records the first read of a property, and no read of a value that is there")
  func property() throws {
    let page = Page()
    #expect(recorder.injections.isEmpty)
    for _ in 0..<3 { _ = page.tracker }
    let injection = try #require(recorder.injections.first)
    #expect(recorder.count == 1)
    #expect(injection.order == 1)
    #expect(injection.isOf(FakeTracker.self))
    #expect(injection.isOf((any Tracker).self))
    #expect(injection.isInto(Page.self))
    #expect(injection.propertyName == "tracker")
  }

  @Test("records each read of a value that isn't kept, dependencies first")
  func dependencies() {
    let page = Page()
    for _ in 0..<2 { _ = page.network }
    #expect(recorder.injections.map(\.order) == [1, 2, 3, 4])
    #expect(recorder.injections.map { $0.propertyType == Network.self } == [false, true, false, true])
    #expect(recorder.injections(into: Page.self, named: "network").map(\.order) == [2, 4])
  }

  @Test("records calls of resolve, with the name and the enclosing object")
  func resolve() throws {
    let page = Page()
    _ = try registry.resolve((any Tracker).self)
    _ = try registry.resolve((any Tracker).self, named: "backup")
    _ = try registry.resolve((any Tracker).self, named: "backup", in: page)
    _ = try registry.resolve((any Tracker)?.self)
    #expect(recorder.injections.map(\.propertyName) == [nil, "backup", "backup", nil])
    #expect(recorder.injections.map { $0.isInto(Page.self) } == [false, false, true, false])
    #expect(recorder.injections.allSatisfy { $0.valueType == FakeTracker.self })
    #expect(recorder.count(of: (any Tracker).self) == 4)
  }

  @Test("doesn't record a value that can't be created")
  func failure() {
    #expect(throws: InjectionError.self) { try registry.resolve(Int.self) }
    #expect(recorder.count == 0)
  }

  @Test("filters by the type that was asked for, the value's type, the class and the name")
  func filters() throws {
    let (page, subPage) = (Page(), SubPage())
    _ = (page.tracker, subPage.tracker, page.network)
    #expect(recorder.count(of: (any Tracker).self) == 3)
    #expect(recorder.count(of: FakeTracker.self) == 3)
    #expect(recorder.count(of: Network.self) == 1)
    #expect(recorder.count(of: String.self) == 0)
    #expect(recorder.injections(into: Page.self).count == 3)
    #expect(recorder.injections(into: SubPage.self).count == 1)
    #expect(recorder.injections(into: Page.self, named: "tracker").count == 2)
    #expect(recorder.injections(into: Network.self).isEmpty)
    #expect(recorder.injections(of: FakeTracker.self).last?.containerType == nil)
  }

  @Test("starts over after a reset")
  func reset() {
    let recorder = InjectionRecorder(keepingValues: true)
    _ = Page().tracker
    recorder.reset()
    #expect(recorder.count == 0)
    #expect(recorder.values(of: FakeTracker.self).isEmpty)
    _ = Page().tracker
    #expect(recorder.injections.map(\.order) == [1])
  }

  @Test("describes each injection in a line")
  func description() throws {
    #expect("\(recorder)" == "no injections")
    let page = Page()
    _ = (page.tracker, page.network)
    _ = try registry.resolve((any Tracker).self, named: "backup")
    #expect(
      recorder.testDescription == """
        1. FakeTracker into Page.tracker: any Tracker
        2. FakeTracker: any Tracker
        3. Network into Page.network
        4. FakeTracker as backup: any Tracker
        """)
  }

  @Test("keeps no enclosing object and no value alive")
  func lifetime() throws {
    registry.register(Network.self) { Network(tracker: FakeTracker()) }
    weak var page: Page?
    weak var network: Network?
    do {
      let container = Page()
      page = container
      network = container.network
    }
    _ = try registry.resolve(Network.self)
    #expect(recorder.count == 2)
    #expect(page == nil && network == nil)
  }

  @Test("keeps the values on request, until it is reset")
  func values() throws {
    let recorder = InjectionRecorder(keepingValues: true)
    weak let network = try registry.resolve(Network.self)
    #expect(recorder.values(of: Network.self).first === network)
    #expect(recorder.values(of: (any Tracker).self).count == 1)
    #expect(recorder.values(of: FakeTracker.self).map(\.name) == ["fake"])
    #expect(network != nil)
    recorder.reset()
    #expect(network == nil)
  }

  @Test("fails the test that asks for values that it doesn't keep")
  func valuesOfNone() async {
    let issues = await issues { #expect(recorder.values(of: FakeTracker.self).isEmpty) }
    #expect(issues.count == 1 && issues.allSatisfy { $0.text.contains("keepingValues: true") })
  }

  @Test("ends with its last owner, not with the registry")
  func ownLifetime() {
    weak var gone: InjectionRecorder?
    do {
      let brief = InjectionRecorder(keepingValues: true)
      gone = brief
      _ = Page().tracker
      #expect(brief.count == 1)
    }
    #expect(gone == nil)
    _ = Page().tracker
  }

  @Test("may be read and reset while it records")
  func reentry() throws {
    let recorder = recorder
    registry.onInjection { _, _ in if recorder.count == 2 { recorder.reset() } }
    for _ in 0..<5 { _ = try registry.resolve((any Tracker).self) }
    #expect(recorder.count == 1)
  }

  @Test("misses nothing and counts nothing twice, however many threads inject")
  func race() async throws {
    let (registry, recorder, tasks, turns) = (registry, recorder, 8, 250)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<tasks {
        group.addTask {
          for _ in 0..<turns {
            _ = registry.run { Page() }.tracker
            _ = try? registry.resolve(Network.self)
            _ = recorder.count
          }
        }
      }
    }
    let injections = recorder.injections
    #expect(injections.count == tasks * turns * 3)
    #expect(injections.map(\.order) == Array(1...tasks * turns * 3))
    #expect(recorder.injections(into: Page.self).count == tasks * turns)
    #expect(recorder.count(of: Network.self) == tasks * turns)
  }
}

@Suite("InjectionRecorder of a child registry") struct ChildRecorderTests {
  let parent = InitializerRegistry()
  let child: InitializerRegistry

  init() {
    child = InitializerRegistry(parent: parent)
    parent.register((any Tracker).self) { FakeTracker(name: "parent's") }
    parent.register(Network.self, scope: .singleton, .autowire(Network.init))
  }

  @Test("records what the child is asked for and the parent has, unlike the parent's recorder")
  func parentsRegistration() throws {
    let (ofChild, ofParent) = (InjectionRecorder(child), InjectionRecorder(parent))
    _ = try child.resolve((any Tracker).self)
    #expect(ofChild.count == 1)
    #expect(ofParent.count == 0)
    _ = try parent.resolve((any Tracker).self)
    #expect(ofChild.count == 1)
    #expect(ofParent.count == 1)
  }

  @Test("records what the parent's singleton needs only if it includes parents, and each once")
  func parentsSingleton() throws {
    let (ofChild, ofBoth) = (InjectionRecorder(child), InjectionRecorder(child, includingParents: true))
    for _ in 0..<2 { _ = try child.resolve(Network.self) }
    #expect(ofChild.injections.map { $0.isOf(Network.self) } == [true, true])
    #expect(ofBoth.injections.map { $0.isOf(Network.self) } == [false, true, true])
  }
}

@Suite("Many InjectionRecorders of one registry") struct ManyRecordersTests {
  @Test("leave nothing behind, and the remaining ones record everything")
  func gone() throws {
    let registry = InitializerRegistry()
    registry.register((any Tracker).self) { FakeTracker(name: "the only one") }
    for _ in 0..<1_000 { _ = InjectionRecorder(registry) }
    let (first, second) = (InjectionRecorder(registry), InjectionRecorder(registry))
    #expect(RecorderHub.of(registry).counts == (alive: 2, remembered: 2))
    _ = try registry.resolve((any Tracker).self)
    #expect(first.count == 1)
    #expect(second.count == 1)
  }
}
