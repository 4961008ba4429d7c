import InjectedSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Page: InjectionObserver {
  @Injected var tracker: any Tracker
  @Injected var optional: (any Tracker)?
  @Injected var clock: Clock
  var heard: [String] = []
  func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
}

@Suite("Re-injection", .registry, .timeLimit(.hang)) struct ReinjectionTests {
  private var registry: InitializerRegistry { .current }

  private func register(_ label: String, in registry: InitializerRegistry = .current) {
    registry.register(.instance(FileTracker(label) as any Tracker))
  }

  @Test("re-injection reaches a live property at its next read, once, with hooks")
  func reachesALivePropertyAtItsNextReadOnceWithHooks() {
    register("old")
    let page = Page()
    #expect(page.tracker.label == "old")
    register("new")
    #expect(page.tracker.label == "old")
    registry.reinject((any Tracker).self)
    #expect(page.heard == ["tracker"])
    #expect(page.tracker.label == "new")
    #expect(page.tracker.label == "new")
    #expect(page.heard == ["tracker", "tracker"])
  }

  @Test(
    "re-injection can be repeated, also for a registration that is limited to the property's name",
    arguments: [false, true])
  func canBeRepeated(isForName: Bool) {
    let page = Page()
    for round in 1...10 {
      if isForName {
        registry.register(named: "tracker", .instance(FileTracker("\(round)"), as: .anySupertype))
        registry.reinject(FileTracker.self)
      } else {
        register("\(round)")
        registry.reinject((any Tracker).self)
      }
      #expect(page.tracker.label == "\(round)")
    }
    #expect(page.heard.count == 10)
  }

  @Test("re-injection reaches an Optional property")
  func reachesAnOptionalProperty() {
    register("old")
    let page = Page()
    #expect(page.optional?.label == "old")
    register("new")
    registry.reinject((any Tracker).self)
    #expect(page.optional?.label == "new")
  }

  @Test("re-injection of a registered type reaches the properties that it serves as a supertype")
  func ofTheTypeThatIsRegisteredReachesWhatItServesAsASupertype() {
    final class Wide {
      @Injected var base: BaseTracker
      @Injected var tracker: any Tracker
      @Injected var optional: (any Tracker)?
    }
    registry.register(.instance(FileTracker("old"), as: .anySupertype))
    let wide = Wide()
    #expect([wide.base.label, wide.tracker.label, wide.optional?.label] == ["old", "old", "old"])
    registry.register(.instance(FileTracker("new"), as: .anySupertype))
    registry.reinject(FileTracker.self)
    #expect([wide.base.label, wide.tracker.label, wide.optional?.label] == ["new", "new", "new"])
  }

  @Test("re-injection leaves assigned values until they are reset")
  func leavesAssignedValuesUntilTheyAreReset() {
    register("old")
    let page = Page()
    let mine = FileTracker("mine")
    page.tracker = mine
    registry.reinject((any Tracker).self)
    #expect(page.tracker === mine)
    registry.reinject((any Tracker).self)
    #expect(page.tracker === mine)
    page.$tracker.reset()
    #expect(page.tracker.label == "old")
  }

  @Test("re-injection leaves the values of other types")
  func leavesOtherTypesWithTheValueTheyHave() {
    registry.register { Clock() }
    register("old")
    let page = Page()
    let clock = page.clock
    registry.reinject((any Tracker).self)
    #expect(page.clock === clock)
    #expect(page.clock === clock)
    registry.reinject(Clock.self)
    #expect(page.clock !== clock)
    #expect(page.heard == ["clock", "clock"])
  }

  @Test("a property that is first read after a re-injection gets its value once")
  func givesAPropertyThatIsFirstReadAfterItItsValueOnce() {
    registry.reinject((any Tracker).self)
    register("first")
    let page = Page()
    #expect(page.tracker.label == "first")
    #expect(page.tracker.label == "first")
    #expect(page.heard == ["tracker"])
  }

  @Test("re-injection keeps the old value if nothing is registered anymore")
  func keepsTheOldValueWhereNothingIsRegisteredAnyMore() {
    let registration = registry.register((any Tracker).self) { FileTracker("old") }
    let page = Page()
    let tracker = page.tracker
    registration.unregister()
    registry.reinject((any Tracker).self)
    #expect(page.tracker === tracker)
    #expect(page.tracker === tracker)
    #expect(page.heard == ["tracker"])
  }

  @Test("re-injection reaches objects of child registries")
  func reachesObjectsOfChildRegistries() {
    let child = InitializerRegistry(parent: InitializerRegistry(parent: registry))
    register("old")
    let page = child.run { Page() }
    #expect(page.tracker.label == "old")
    register("new")
    registry.reinject((any Tracker).self)
    #expect(page.tracker.label == "new")
    register("child's", in: child)
    child.reinject((any Tracker).self)
    #expect(page.tracker.label == "child's")
  }

  @Test("re-injection leaves objects of other registries")
  func leavesObjectsOfOtherRegistries() {
    let other = InitializerRegistry()
    other.register((any Tracker).self) { FileTracker() }
    let page = other.run { Page() }
    let tracker = page.tracker
    registry.reinject((any Tracker).self)
    #expect(page.tracker === tracker)
  }

  @Test("re-injection reaches a value that filling injected")
  func reachesTheValueThatFillingGave() throws {
    registry.register { Clock() }
    register("old")
    let page = Page()
    try registry.inject(into: page)
    register("new")
    registry.reinject((any Tracker).self)
    #expect(page.tracker.label == "new")
  }

  @Test("re-injection in a service box's registry, and in no other, reaches the values from there in its services")
  func inABox() {
    // `@unchecked Sendable`: no code assigns the wrapped property; its storage's atomic `gate` guards it.
    final class Service: @unchecked Sendable { @Injected var tracker: any Tracker }
    let (box, service) = (ServiceBox(), Service())
    register("own")
    register("old", in: box.registry)
    box.register(service, named: "service")
    #expect(service.tracker.label == "old")
    register("new", in: box.registry)
    registry.reinject((any Tracker).self)
    #expect(service.tracker.label == "old")
    box.registry.reinject((any Tracker).self)
    #expect(service.tracker.label == "new")
  }

  @Test("re-injection while an object is filled reaches the values that were created before it")
  func whileAnObjectIsFilled() throws {
    final class Page {
      @Injected var clock: Clock
      @Injected var tracker: any Tracker
    }
    let new = Clock()
    registry.register(.instance(Clock()))
    registry.register((any Tracker).self) { resolver in
      resolver.registry.register(.instance(new))
      resolver.registry.reinject(Clock.self)
      return FileTracker()
    }
    let page = Page()
    try registry.inject(into: page)
    #expect(page.clock === new)
  }

  @Test("re-injection keeps no object alive and releases the old service with its object")
  func keepsNoObjectAliveAndReleasesTheOldServiceWithItsObject() {
    weak var old: FileTracker?
    weak var gone: Page?
    do {
      let page = Page()
      gone = page
      do {
        let tracker = FileTracker("old")
        old = tracker
        registry.register(.instance(tracker as any Tracker))
      }
      #expect(page.tracker === old)
      register("new")
      registry.reinject((any Tracker).self)
      #expect(page.tracker.label == "new")
    }
    #expect(gone == nil)
    #expect(old == nil)
  }

  @Test("an assignment after a re-injection releases the previous values")
  func anAssignmentAfterItReleasesTheValuesBefore() {
    weak var old: FileTracker?
    weak var new: FileTracker?
    let page = Page()
    do {
      let (first, second) = (FileTracker("old"), FileTracker("new"))
      (old, new) = (first, second)
      registry.register(.instance(first as any Tracker))
      _ = page.tracker
      registry.register(.instance(second as any Tracker))
      registry.reinject((any Tracker).self)
      _ = page.tracker
    }
    registry.removeAll()
    page.tracker = FileTracker("mine")
    #expect(old == nil)
    #expect(new == nil)
    #expect(page.tracker.label == "mine")
  }

  @Test("re-injection keeps the old value if the initializer fails, and tries again")
  func whoseInitializerFailsKeepsTheOldValueForTheNextTry() throws {
    struct Refusal: Error {}
    let attempts = Counter()
    register("old")
    let page = Page()
    let old = page.tracker
    registry.register((any Tracker).self) {
      if attempts.increment() == 1 { throw Refusal() }
      return FileTracker("new")
    }
    registry.reinject((any Tracker).self)
    #expect(throws: InjectionError.self) { try page.$tracker.resolve() }
    #expect(page.$tracker.hasValue)
    #expect(page.tracker !== old)
    #expect(page.tracker.label == "new")
  }

  @Test("re-injection reaches an actor and a constant")
  func reachesAnActorAndAConstant() async {
    actor Worker { @Injected var tracker: any Tracker }
    final class Constant: Sendable { let tracker = Injected<any Tracker>() }
    register("old")
    let (worker, constant) = (Worker(), Constant())
    #expect(await worker.tracker.label == "old")
    #expect(constant.tracker.value.label == "old")
    register("new")
    registry.reinject((any Tracker).self)
    #expect(await worker.tracker.label == "new")
    #expect(constant.tracker.value.label == "new")
  }

  @Test("readers during a re-injection get whole values, and finally the last one")
  func whileOthersReadGivesEachAWholeValueAndEndsWithTheLast() async {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Shared: @unchecked Sendable { @Injected var tracker: any Tracker }
    let registry = registry
    register("0")
    let all = (0..<20).map { _ in Shared() }
    let seen = await race(1_000) { index in
      if index % 50 == 0 {
        registry.register(.instance(FileTracker("\(index)") as any Tracker))
        registry.reinject((any Tracker).self)
      }
      return all[index % 20].tracker.label
    }
    #expect(seen.allSatisfy { Int($0).map { $0 % 50 == 0 } ?? false })
    register("last")
    registry.reinject((any Tracker).self)
    #expect(Set(all.map(\.tracker.label)) == ["last"])
  }

  @Test("a re-read after a re-injection costs little")
  func costsAReReadLittleAfterIt() {
    final class Holder { @Injected var clock: Clock }
    registry.register { Clock() }
    let after = Holder()
    _ = after.clock
    registry.reinject(Clock.self)
    _ = after.clock
    let fresh = Holder()
    _ = fresh.clock
    // Each read is a call, so that the compiler can't remove reads whose value isn't used.
    @inline(never) func read(_ holder: Holder) -> ObjectIdentifier { ObjectIdentifier(holder.clock) }
    func time(_ holder: Holder) -> Duration {
      let (first, count) = (read(holder), 250)
      var same = 0
      let duration = ContinuousClock().measure { for _ in 0..<count { same += read(holder) == first ? 1 : 0 } }
      #expect(same == count)
      return duration
    }
    // The rounds are so short that even a busy machine runs some of them without a pause.
    let rounds = (0..<400).map { _ in (time(fresh), time(after)) }
    let (lowest, changed) = (rounds.map(\.0).min() ?? .zero, rounds.map(\.1).min() ?? .zero)
    #expect(changed / lowest < 24)
  }

  @Test("a child's re-injection reaches its own objects, and none of its parent or a sibling")
  func child() {
    register("old")
    let (child, sibling) = (registry.child { _ in }, registry.child { _ in })
    let pages = [registry, child, sibling].map { $0.run { Page() } }
    #expect(pages.map(\.tracker.label) == ["old", "old", "old"])
    register("new")
    child.reinject((any Tracker).self)
    #expect(pages.map(\.tracker.label) == ["old", "new", "old"])
    #expect(pages.map(\.heard.count) == [1, 2, 1])
    registry.reinject((any Tracker).self)
    #expect(pages.map(\.tracker.label) == ["new", "new", "new"])
  }
}
