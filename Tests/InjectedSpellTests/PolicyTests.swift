import InjectedSpell
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

private final class Holder: InjectionObserver {
  @Injected(.once) var once: any Tracker
  @Injected(.everyRead) var always: any Tracker
  @Injected(.weak) var weakly: (any Tracker)?
  @Injected(.weak) var weakClock: Clock?
  var heard: [String] = []
  func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
}

@Suite("A policy", .registry, .timeLimit(.hang)) struct PolicyTests {
  private var registry: InitializerRegistry { .current }

  @Test("the policy once keeps the value")
  func onceKeepsTheValue() {
    registry.register((any Tracker).self) { FileTracker() }
    let holder = Holder()
    #expect(holder.once === holder.once)
    #expect(holder.heard == ["once"])
  }

  @Test("the policy everyRead asks and calls hooks at each read")
  func everyReadAsksAndTellsAtEachRead() throws {
    registry.register((any Tracker).self) { FileTracker() }
    let holder = Holder()
    #expect(holder.always !== holder.always)
    _ = try holder.$always.resolve()
    #expect(!holder.$always.hasValue)
    #expect(holder.heard == ["always", "always", "always"])
  }

  @Test("the policy everyRead uses a new registration at once")
  func everyReadSeesANewRegistrationAtOnce() {
    registry.register(.instance(FileTracker("old") as any Tracker))
    let holder = Holder()
    #expect(holder.always.label == "old")
    registry.register(.instance(FileTracker("new") as any Tracker))
    #expect(holder.always.label == "new")
  }

  @Test("the policy weak calls injection hooks before completion hooks, and describes its value")
  func weakCallsHooksInOrder() {
    let log = Mutex<[String]>([])
    registry.register { Clock() }
      .onInjection { _, _ in log.withLock { $0.append("injection") } }
      .onCompletion { _, _ in log.withLock { $0.append("completion") } }
    let holder = Holder()
    let clock = holder.weakClock
    #expect(clock != nil)
    #expect(log.withLock(\.self) == ["injection", "completion"])
    final class Owner { let clock = Injected<Clock?>(.weak) }
    let owner = Owner()
    #expect(owner.clock.description.contains("no value yet"))
    let own = owner.clock.value
    #expect(own != nil)
    #expect(!owner.clock.description.contains("no value yet"))
  }

  @Test("the policy weak returns the value to its reader and keeps nothing alive")
  func weakHandsTheValueToItsReaderAndKeepsNothingAlive() {
    registry.register((any Tracker).self) { FileTracker() }
    registry.register { Clock() }
    let holder = Holder()
    do {
      let (tracker, clock) = (holder.weakly, holder.weakClock)
      #expect(tracker != nil && clock != nil)
      #expect(holder.weakly === tracker && holder.weakClock === clock)
      #expect(holder.$weakly.hasValue)
    }
    #expect(!holder.$weakly.hasValue)
    #expect(holder.weakly == nil)
    #expect(holder.weakClock == nil)
    #expect(holder.heard == ["weakly", "weakClock"])
  }

  @Test("the policy weak asks once, then reads nil until the property is reset or assigned")
  func weakAsksOnceThenReadsNilUntilItIsResetOrAssigned() {
    let asked = Counter()
    registry.register((any Tracker).self) { FileTracker("\(asked.increment())") }
    let holder = Holder()
    #expect(holder.weakly?.label == "1")
    for _ in 0..<3 { #expect(holder.weakly == nil) }
    #expect(asked.value == 1)
    holder.$weakly.reset()
    #expect(holder.weakly?.label == "2")
    #expect(holder.weakly == nil)
    let mine = FileTracker("mine")
    holder.weakly = mine
    #expect(holder.weakly === mine)
    #expect(asked.value == 2)
  }

  @Test("the policy weak shares a value that others hold")
  func weakSharesWhatOthersHold() {
    registry.register((any Tracker).self, scope: .weak) { FileTracker() }
    let holder = Holder()
    var tracker: (any Tracker)? = holder.once
    #expect(holder.weakly === tracker)
    #expect(holder.$weakly.hasValue)
    #expect(holder.weakly === tracker)
    #expect(holder.heard == ["once", "weakly"])
    holder.$once.reset()
    tracker = nil
    #expect(!holder.$weakly.hasValue)
    let next = holder.once
    #expect(holder.weakly == nil)
    holder.$weakly.reset()
    #expect(holder.weakly === next)
  }

  /// A service with a weak property of the same type, which asks the registry only when `resolve()` is called.
  private final class Loop: Sendable {
    let next = Injected<Loop?>(.weak)
  }

  @Test("a cycle through a weak property has the property's type in its path, and ends")
  func weakCycle() {
    registry.register(Loop.self) { try Loop().next.resolve() ?? Loop() }
    let loop = Loop()
    #expect {
      try loop.next.resolve()
    } throws: { error in
      guard let error = error as? InjectionError else { return false }
      return error.code == .cycle && error.path.allSatisfy { ["Loop", "Loop?"].contains($0) }
    }
  }

  @Test("two threads that wait for each other's weak property get a cycle with the types of the properties")
  func weakCycleOfThreads() async {
    let barrier = Barrier(of: 2)
    let (first, second) = (Injected<FileTracker?>(.weak), Injected<Clock?>(.weak))
    let (trackers, clocks) = (Counter(), Counter())
    registry.register(FileTracker.self) {
      if trackers.increment() == 1 { barrier.wait() }
      _ = try second.resolve()
      return FileTracker()
    }
    registry.register(Clock.self) {
      if clocks.increment() == 1 { barrier.wait() }
      _ = try first.resolve()
      return Clock()
    }
    @Sendable func error(of property: Injected<some Sendable>) -> InjectionError? {
      do throws(InjectionError) { try property.resolve() } catch { return error }
      return nil
    }
    async let one = onThread { error(of: first) }
    async let two = onThread { error(of: second) }
    for error in await [one, two] {
      #expect(error?.code == .cycle)
      #expect(error?.path.allSatisfy { ["FileTracker", "FileTracker?", "Clock", "Clock?"].contains($0) } == true)
    }
  }

  @Test("a weak constant can be reset")
  func weakOfAConstantIsResetToo() {
    let asked = Counter()
    registry.register(Clock.self) {
      asked.increment()
      return Clock()
    }
    let clock = Injected<Clock?>(.weak)
    #expect(clock.value != nil)
    #expect(clock.value == nil)
    clock.reset()
    let held = clock.value
    #expect(held != nil)
    #expect(clock.value === held)
    #expect(asked.value == 2)
  }

  @Test("a weak property that many threads read at once asks once", arguments: 1...20)
  func weakReadByManyAtOnceAsksOnce(round: Int) async {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Shared: @unchecked Sendable { @Injected(.weak) var clock: Clock? }
    let (asked, kept) = (Counter(), Clock())
    registry.register(Clock.self) {
      asked.increment()
      return kept
    }
    let shared = Shared()
    let seen = await race(100) { _ in shared.clock === kept }
    #expect(!seen.contains(false))
    #expect(asked.value == 1)
  }

  @Test("a weak property with nothing registered reads nil")
  func weakWithNothingRegisteredReadsNil() throws {
    let holder = Holder()
    #expect(holder.weakly == nil)
    #expect(try holder.$weakly.resolve() == nil)
    #expect(holder.heard == [])
  }

  @Test("a weak property doesn't store the nil of a registration, and keeps a value that the hooks of nil give it")
  func weakDoesNotStoreNil() {
    let (kept, calls, seen) = (Clock(), Counter(), Shared<[Clock?]>([]))
    let property = Injected<Clock?>(.weak)
    registry.register(Clock?.self) { calls.value > 0 ? kept : nil }
      .onInjection { _, _ in
        if calls.increment() == 1 { seen.update { $0.append(property.value) } }
      }
    #expect(property.value == nil)
    #expect(seen.value.map { $0 === kept } == [true])
    #expect(property.hasValue)
  }

  @Test("a weak property whose value isn't an object stops the program")
  func weakOfAValueThatIsNotAnObjectStopsTheProgram() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Odd { @Injected(.weak) var number: Int? }
      let odd = Odd()
      odd.number = 1
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("@Injected(.weak) of Int? got a Int, which isn't an object"))
    #expect(message.contains("Keep it in another way"))
  }

  @Test("an assignment wins under each policy until a reset")
  func anAssignmentByHandWinsUnderEachUntilAReset() {
    registry.register(.instance(FileTracker("registered") as any Tracker))
    let holder = Holder()
    let mine = FileTracker("mine")
    holder.once = mine
    holder.always = mine
    holder.weakly = mine
    #expect([holder.once, holder.always, holder.weakly ?? FileTracker()].allSatisfy { $0 === mine })
    #expect(holder.$once.hasValue && holder.$always.hasValue && holder.$weakly.hasValue)
    #expect(holder.heard == [])
    holder.$once.reset()
    holder.$always.reset()
    holder.$weakly.reset()
    #expect(holder.once.label == "registered")
    #expect(holder.always.label == "registered")
    #expect(holder.weakly?.label == "registered")
    #expect(holder.heard == ["once", "always", "weakly"])
  }

  @Test("a weak property holds an assigned value weakly too")
  func aWeakPropertyHoldsAnAssignedValueWeaklyToo() {
    let holder = Holder()
    var mine: FileTracker? = FileTracker("mine")
    holder.weakly = mine
    #expect(holder.weakly === mine)
    mine = nil
    #expect(holder.weakly == nil)
  }

  @Test("a weak property of a struct is assigned independently")
  func aWeakPropertyOfAStructIsAssignedApart() {
    struct Model { @Injected(.weak) var clock: Clock? }
    let (one, other) = (Clock(), Clock())
    var first = Model()
    first.clock = one
    var second = first
    second.clock = other
    #expect(first.clock === one)
    #expect(second.clock === other)
  }

  @Test("a copy of a struct is assigned independently")
  func aCopyOfAStructIsAssignedApart() {
    struct Model {
      @Injected var once: any Tracker
      @Injected(.everyRead) var always: any Tracker
    }
    registry.register(.instance(FileTracker("registered") as any Tracker))
    let first = Model()
    _ = first.once
    var second = first
    second.once = FileTracker("mine")
    second.always = FileTracker("mine")
    #expect(first.once.label == "registered")
    #expect(first.always.label == "registered")
    #expect(second.once.label == "mine")
    #expect(second.always.label == "mine")
  }
}
