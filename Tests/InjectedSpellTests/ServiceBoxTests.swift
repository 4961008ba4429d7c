import Foundation
import InjectedSpell
import SpellRegistry
import TestSupport
import Testing

private class Controller: InjectionObserver {
  @Injected var tracker: any Tracker
  @Injected var base: BaseTracker
  @Injected var file: FileTracker?
  @Injected private var hidden: Clock
  @Injected var serviceBox: ServiceBox
  var inner: Clock { hidden }
  var heard: [String] = []
  func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
}
private final class SubController: Controller {
  @Injected private var hidden: Clock
  var outer: Clock { hidden }
}
private final class Client: ServiceBoxClient {
  @Injected var clock: Clock
  init(_ box: ServiceBox) { fillWithDependencies(from: box) }
}
// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Ping: @unchecked Sendable { @Injected var pong: Pong }
// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Pong: @unchecked Sendable {
  @Injected var ping: Ping
  @Injected var clock: Clock
}

extension InjectionKeys {
  fileprivate static let tone = InjectionKey { 1 }
}
// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Piano: @unchecked Sendable { @Injected(.tone) var tone }

@Suite("A service box", .timeLimit(.hang)) struct ServiceBoxTests {
  @Test("a service asks its own registry for a key that only the key itself serves in the box")
  func serviceAsksItsOwnRegistryForAKey() {
    let own = InitializerRegistry()
    own.register(.tone) { 2 }
    let box = ServiceBox()
    let piano = own.run { Piano() }
    box.register(piano, named: "piano")
    #expect(piano.tone == 2)
    let other = own.run { Piano() }
    box.registry.register(.tone) { 3 }
    box.register(other, named: "other")
    #expect(other.tone == 3)
  }

  @Test("a service box fills by name and by class, superclass, protocol or Optional")
  func fillsByNameAndClassSuperclassProtocolOrOptional() {
    let box = ServiceBox()
    let tracker = FileTracker("one")
    for name in ["tracker", "base", "file"] { box.register(tracker, named: name) }
    let controller = Controller()
    let report = box.fill(controller)
    #expect(controller.tracker === tracker)
    #expect(controller.base === tracker)
    #expect(controller.file === tracker)
    #expect(controller.serviceBox === box)
    #expect(report.filled == ["tracker", "base", "file", "serviceBox"])
    #expect(report.missing == ["hidden"])
    #expect(report.mismatched == [])
    #expect(controller.heard == report.filled)
  }

  @Test("a service box fills private and inherited properties of one name")
  func fillsPrivateAndInheritedPropertiesOfOneName() {
    let box = ServiceBox()
    let clock = Clock()
    box.register(clock, named: "hidden")
    let controller = SubController()
    #expect(box.fill(controller).filled == ["hidden", "serviceBox", "hidden"])
    #expect(controller.inner === clock)
    #expect(controller.outer === clock)
  }

  @Test("a service box reports which services are of another type or missing")
  func saysWhatHasAnotherTypeAndWhatIsMissing() {
    let box = ServiceBox()
    box.register(Clock(), named: "tracker")
    box.register(BaseTracker(), named: "file")
    box.register(1, named: "base")
    let report = box.fill(Controller())
    #expect(report.mismatched == ["tracker", "base", "file"])
    #expect(report.missing == ["hidden"])
    #expect(report.filled == ["serviceBox"])
  }

  @Test("a service box leaves properties that it doesn't fill")
  func leavesAPropertyThatItDoesNotFillAsItWas() {
    let box = ServiceBox()
    box.register(Clock(), named: "tracker")
    let controller = Controller()
    let mine = FileTracker("mine")
    controller.tracker = mine
    box.fill(controller)
    #expect(controller.tracker === mine)
    #expect(!controller.$base.hasValue)
  }

  @Test("a service box fills values that aren't objects")
  func fillsValuesThatAreNoObjects() {
    final class Settings {
      @Injected var port: Int
      @Injected var names: [String]?
    }
    let box = ServiceBox()
    box.register(80, named: "port")
    box.register(["a", "b"], named: "names")
    let settings = Settings()
    box.fill(settings)
    #expect(settings.port == 80)
    #expect(settings.names == ["a", "b"])
  }

  @Test("a service box replaces a service of the same name, even of another type")
  func replacesAServiceOfTheSameNameAlsoOfAnotherType() {
    let box = ServiceBox()
    let controller = Controller()
    box.register(Clock(), named: "base")
    box.register(BaseTracker("old"), named: "base")
    box.fill(controller)
    #expect(controller.base.label == "old")
    let new = FileTracker("new")
    box.register(new, named: "base")
    box.fill(controller)
    #expect(controller.base === new)
    #expect(controller.heard == ["base", "serviceBox", "base"])
  }

  @Test("refilling with the same service calls no hook")
  func refillingWithTheSameServiceCallsNoHook() {
    let box = ServiceBox()
    let tracker = FileTracker()
    box.register(tracker, named: "tracker")
    box.register(tracker, named: "file")
    let controller = Controller()
    let first = box.fill(controller)
    #expect(box.fill(controller) == first)
    #expect(controller.heard == ["tracker", "file", "serviceBox"])
  }

  @Test("a service box reports a property as missing if the calling thread is injecting the property again")
  func reportsAPropertyThatTheCallerIsInjectingAgain() {
    let (registry, box, missing) = (InitializerRegistry(), ServiceBox(), Shared<[String]>([]))
    final class Page { @Injected var clock: Clock }
    registry.register(
      .in(Page.self) { page in
        missing.update { $0 += box.fill(page).missing }
        return Clock()
      })
    let (page, clock) = (registry.run { Page() }, Clock())
    box.register(clock, named: "clock")
    #expect(box.fill(page).filled == ["clock"] && page.clock === clock)
    registry.reinject(Clock.self)
    #expect(page.clock !== clock)
    #expect(missing.value == ["clock"])
  }

  @Test("a service box lets an object fill itself in its initializer")
  func letsAnObjectFillItselfInItsInitializer() {
    let box = ServiceBox()
    let clock = Clock()
    box.register(clock, named: "clock")
    #expect(Client(box).clock === clock)
  }

  @Test("a service box fills the services with each other, including later ones")
  func fillsTheServicesWithEachOtherThoseThatComeLaterToo() {
    let box = ServiceBox()
    let (ping, pong, clock) = (Ping(), Pong(), Clock())
    box.register(ping, named: "ping")
    box.register(pong, named: "pong")
    box.fill(Controller())
    #expect(ping.pong === pong)
    #expect(pong.ping === ping)
    #expect(!pong.$clock.hasValue)
    box.register(clock, named: "clock")
    box.fill(Controller())
    #expect(pong.clock === clock)
    ping.$pong.reset()
  }

  @Test("a service that a box has by two names gets the others until both are gone")
  func givesAServiceTheOthersForEachOfItsNames() {
    let (box, ping, pong) = (ServiceBox(), Ping(), Pong())
    box.register(pong, named: "pong")
    box.register(ping, named: "one")
    box.register(ping, named: "two")
    box.register(Clock(), named: "one")
    #expect(ping.pong === pong)
    ping.$pong.reset()
    box.register(Clock(), named: "two")
    #expect(throws: InjectionError.self) { try ping.$pong.resolve() }
  }

  @Test("a service box fills an actor from within")
  func fillsAnActorFromWithin() async {
    actor Worker: ServiceBoxClient {
      @Injected var clock: Clock
      var isFilled: Bool { $clock.hasValue }
      func fill(from box: ServiceBox) -> FillReport { fillWithDependencies(from: box) }
    }
    let box = ServiceBox()
    let clock = Clock()
    let worker = Worker()
    box.register(clock, named: "clock")
    box.register(worker, named: "worker")
    box.fill(Controller())
    #expect(await !worker.isFilled)
    #expect(await worker.fill(from: box).filled == ["clock"])
    #expect(await worker.clock === clock)
  }

  @Test("a service box fills a weak property and keeps nothing alive there")
  func fillsAWeakPropertyAndKeepsNothingAliveThere() {
    final class Holder: InjectionObserver {
      @Injected(.weak) var clock: Clock?
      var heard: [String] = []
      func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
    }
    let box = ServiceBox()
    let holder = Holder()
    do {
      let clock = Clock()
      box.register(clock, named: "clock")
      for _ in 0..<2 { box.fill(holder) }
      #expect(holder.clock === clock)
      #expect(holder.heard == ["clock"])
    }
    box.clear()
    #expect(holder.clock == nil)
  }

  @Test("a service box leaves a weak property the value that another thread is making", arguments: 1...10)
  func waitsForAWeakValue(round: Int) async {
    // `@unchecked Sendable`: no code assigns the wrapped property; its storage's atomic `gate` guards it.
    final class Holder: @unchecked Sendable { @Injected(.weak) var clock: Clock? }
    let (registry, box, clock) = (InitializerRegistry(), ServiceBox(), Clock())
    let (hooks, begun, filling) = (Counter(), Latch(), Latch())
    registry.register(Clock.self) {
      begun.open()
      filling.wait()
      for _ in 0..<100 { sched_yield() }
      return clock
    }
    registry.onInjection { _, _ in hooks.increment() }
    box.register(clock, named: "clock")
    let holder = registry.run { Holder() }
    await onThreads(
      { _ = holder.clock },
      {
        begun.wait()
        filling.open()
        #expect(box.fill(holder, \.$clock).filled == ["clock"])
      })
    #expect(hooks.value == 1)
  }

  @Test("a cleared service box drops its services but not itself")
  func clearedForgetsItsServicesButNotItself() {
    let box = ServiceBox()
    weak var gone: Clock?
    do {
      let clock = Clock()
      gone = clock
      box.register(clock, named: "hidden")
    }
    #expect(gone != nil)
    box.clear()
    #expect(gone == nil)
    let report = box.fill(Controller())
    #expect(report.filled == ["serviceBox"])
    #expect(report.missing == ["tracker", "base", "file", "hidden"])
  }

  @Test("objects keep the services that a cleared box filled in")
  func leavesFilledObjectsTheirServicesWhenItIsCleared() {
    let box = ServiceBox()
    box.register(FileTracker("kept"), named: "tracker")
    let controller = Controller()
    box.fill(controller)
    box.clear()
    #expect(controller.tracker.label == "kept")
  }

  @Test("a service box serves objects that are created in its registry")
  func servesObjectsMadeUnderItsRegistry() {
    final class Page { @Injected var clock: Clock }
    let box = ServiceBox()
    let clock = Clock()
    box.register(clock, named: "clock")
    #expect(box.registry.run { Page() }.clock === clock)
    box.clear()
    #expect(throws: InjectionError.self) { try box.registry.run { Page() }.$clock.resolve() }
  }

  @Test("a service box has only those services that its registry still has")
  func hasTheServicesOfItsRegistry() {
    final class Page { @Injected var clock: Clock }
    let (box, clock) = (ServiceBox(), Clock())
    box.register(Clock(), named: "clock")
    box.registry.register(named: "clock", .instance(clock, as: .anySupertype))
    #expect(box.fill(Page()).missing == ["clock"])
    box.clear()
    #expect(box.registry.run { Page() }.clock === clock)
    box.register(Clock(), named: "clock")
    box.registry.removeAll()
    #expect(box.fill(Page()).missing == ["clock"])
    let page = Page()
    box.register(clock, named: "clock")
    #expect(box.fill(page).filled == ["clock"] && page.clock === clock)
  }

  @Test("a service that was removed with its registry's other registrations asks its own registry again")
  func removalFromTheRegistryEndsTheAdoption() {
    let (box, own, pong) = (ServiceBox(), InitializerRegistry(), Pong())
    own.register { pong }
    let ping = own.run { Ping() }
    box.register(ping, named: "ping")
    box.registry.removeAll()
    box.registry.register { Pong() }
    #expect(ping.pong === pong)
  }

  @Test("a service named as the box takes precedence over the box where its type fits")
  func serviceNamedAsTheBox() {
    final class Page { @Injected var serviceBox: Clock }
    final class Other { @Injected var serviceBox: ServiceBox }
    let (box, clock, page, other) = (ServiceBox(), Clock(), Page(), Other())
    box.register(clock, named: "serviceBox")
    #expect(box.fill(page).filled == ["serviceBox"] && page.serviceBox === clock)
    #expect(box.fill(other).filled == ["serviceBox"] && other.serviceBox === box)
  }

  @Test("a service box retains no object that it fills")
  func retainsNoObjectThatItFills() {
    let box = ServiceBox()
    box.register(Clock(), named: "hidden")
    var controller: Controller? = Controller()
    weak let gone = controller
    if let controller { box.fill(controller) }
    controller = nil
    #expect(gone == nil)
  }

  @Test("a service box releases the services that it replaces or drops with no lock held")
  func holdsNoLockWhileAServiceThatItReplacesOrForgetsGoes() {
    final class Leaving: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
      deinit { body() }
    }
    let (box, left) = (ServiceBox(), Counter())
    let leave: @Sendable () -> Void = { [unowned box] in
      left.increment()
      box.register(Clock(), named: "clock")
      _ = try? box.registry.resolve(Clock.self)
    }
    box.register(Leaving(leave), named: "service")
    box.register(Leaving(leave), named: "service")
    #expect(left.value == 1)
    box.clear()
    #expect(left.value == 2)
    box.clear()
  }

  @Test("the default service box is that of the whole process")
  func ofTheWholeProcessIsTheDefault() async {
    await #expect(processExitsWith: .success) {
      final class Page: ServiceBoxClient { @Injected var clock: Clock }
      let clock = Clock()
      ServiceBox.default.register(clock, named: "clock")
      let page = Page()
      page.fillWithDependencies()
      precondition(page.clock === clock)
    }
  }

  @Test("a main-actor client fills itself on the main actor")
  @MainActor func mainActorClient() {
    @MainActor final class Screen: ServiceBoxClient {
      @Injected var clock: Clock?
      init(_ box: ServiceBox) { fillWithDependencies(from: box) }
    }
    let box = ServiceBox()
    box.register(Clock(), named: "clock")
    #expect(Screen(box).clock != nil)
  }
}
