import InjectedSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Owner: InjectionObserver {
  @Injected var tracker: any Tracker
  @Injected(.everyRead) var always: any Tracker
  @Injected(.weak) var weakly: (any Tracker)?
  @Injected(onInjection: { (owner: Owner, _) in owner.heard += 1 }) var hooked: any Tracker
  @Injected(onInjection: Owner.hear) var told: any Tracker
  var heard = 0
  func hear(_ tracker: any Tracker) { heard += 1 }
  func didInject(_ value: Any, intoProperty name: String) { heard += 1 }
}

@Suite("Lifetime", .registry) struct LifetimeTests {
  private var registry: InitializerRegistry { .current }

  @Test("a property never retains its enclosing object")
  func thePropertyNeverRetainsItsOwner() {
    registry.register((any Tracker).self, .in(Owner.self) { _ in FileTracker() })
    var owner: Owner? = Owner()
    weak let gone = owner
    _ = owner?.tracker
    _ = owner?.always
    _ = owner?.weakly
    _ = owner?.hooked
    _ = owner?.told
    registry.reinject((any Tracker).self)
    _ = owner?.tracker
    #expect(owner?.heard == 8)
    owner = nil
    #expect(gone == nil)
  }

  @Test("the value is released with the enclosing object, by an assignment and by a reset")
  func theValueGoesWithItsOwnerOrAtAnAssignmentOrAReset() {
    registry.register((any Tracker).self) { FileTracker() }
    var owner: Owner? = Owner()
    weak let first = owner?.tracker
    #expect(first != nil)
    owner?.tracker = FileTracker()
    #expect(first == nil)
    weak let second = owner?.tracker
    owner?.$tracker.reset()
    #expect(second == nil)
    weak let third = owner?.tracker
    #expect(third != nil)
    owner = nil
    #expect(third == nil)
  }

  @Test("a value whose deinitializer reads the property is released safely")
  func aValueWhoseDeinitializerReadsThePropertyIsReleasedSafely() {
    final class Farewell: Sendable {
      let atEnd: @Sendable () -> Void
      init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
      deinit { atEnd() }
    }
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Host: @unchecked Sendable {
      let read = Counter()
      @Injected var farewell: Farewell
      func lookAtEnd() -> Farewell { Farewell { [unowned self] in if $farewell.hasValue { read.increment() } } }
    }
    let host = Host()
    host.farewell = host.lookAtEnd()
    host.farewell = host.lookAtEnd()
    #expect(host.read.value == 1)
    host.$farewell.reset()
    #expect(host.read.value == 1)
  }

  @Test("a registry lives as long as an object may ask it")
  func theRegistryLivesAsLongAsAnObjectMayAskIt() {
    var registry: InitializerRegistry? = InitializerRegistry()
    weak let gone = registry
    registry?.register((any Tracker).self) { FileTracker("made") }
    var owner = registry?.run { Owner() }
    registry = nil
    #expect(owner?.tracker.label == "made")
    owner = nil
    #expect(gone == nil)
  }
}

@Suite("A property that needs itself", .registry, .timeLimit(.hang)) struct ReentryTests {
  // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
  private final class Pair: @unchecked Sendable {
    @Injected var left: BaseTracker
    @Injected var right: FileTracker
  }
  private var registry: InitializerRegistry { .current }

  private func isCycle<Value>(_ resolve: () throws -> Value) -> Bool {
    do {
      _ = try resolve()
      return false
    } catch { return (error as? InjectionError)?.code == .cycle }
  }

  @Test("a property that needs itself through another property throws the path")
  func throughAnotherPropertyThrowsThePath() throws {
    registry.register(BaseTracker.self, .in(Pair.self) { BaseTracker(try $0.$right.resolve().label) })
    registry.register(FileTracker.self, .in(Pair.self) { FileTracker(try $0.$left.resolve().label) })
    let error = try #require(throws: InjectionError.self) { try Pair().$left.resolve() }
    #expect(error.code == .cycle)
    #expect(error.path == ["BaseTracker", "FileTracker", "BaseTracker"])
  }

  @Test("a cycle across two threads throws on both", arguments: 1...20)
  func acrossTwoThreadsThrowsOnBoth(round: Int) async {
    let (leftBegan, rightBegan) = (Latch(), Latch())
    registry.register(
      BaseTracker.self,
      .in(Pair.self) { pair in
        leftBegan.open()
        rightBegan.wait()
        return BaseTracker(try pair.$right.resolve().label)
      })
    registry.register(
      FileTracker.self,
      .in(Pair.self) { pair in
        rightBegan.open()
        leftBegan.wait()
        return FileTracker(try pair.$left.resolve().label)
      })
    let pair = Pair()
    let cycles = Counter()
    await onThreads(
      { if isCycle({ try pair.$left.resolve() }) { cycles.increment() } },
      { if isCycle({ try pair.$right.resolve() }) { cycles.increment() } })
    #expect(cycles.value == 2)
    #expect(!pair.$left.hasValue && !pair.$right.hasValue)
  }

  @Test("a property that needs itself at every read throws too")
  func atEveryReadThrowsToo() throws {
    final class Endless { @Injected(.everyRead) var tracker: BaseTracker }
    registry.register(BaseTracker.self, .in(Endless.self) { try $0.$tracker.resolve() })
    #expect(isCycle { try Endless().$tracker.resolve() })
  }

  @Test("a property that needs itself stops the program with the name")
  func stopsTheProgramWithTheName() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry.shared.register(BaseTracker.self, .in(Pair.self) { $0.left })
      _ = Pair().left
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Pair.left"))
    #expect(message.contains("needs its own result: BaseTracker → BaseTracker."))
  }
}
