import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Screen {
  var log: [String] = []
  @Lazy(onInjection: { (screen: Screen, service) in screen.log.append("closure \(service.label)") })
  var closure: Service
  @Lazy(onInjection: { (screen: Screen, service) in screen.log.append("closure \(service.label)") })
  var closureWithExpression = Service("own")
  @Lazy(onInjection: Screen.hear) var method: Service
  @Lazy(onInjection: Screen.hear) var methodWithExpression = Service("own")
  func hear(_ service: Service) { log.append("method \(service.label)") }
}

private final class SubScreen: Screen {
  @Lazy(onInjection: Screen.hear) var inSubclass = Service("sub")
}

private final class Observed: InjectionObserver {
  var log: [String] = []
  @Lazy(onInjection: { (observed: Observed, _) in observed.log.append("own") }) var service: Service
  @Lazy var plain = 1
  @Lazy private var _underscored = 2
  var underscored: Int { _underscored }
  func didInject(_ value: Any, intoProperty name: String) { log.append(name) }
}

private actor Worker: InjectionObserver {
  @Lazy var count = 4
  var heard: [String] = []
  func read() -> Int { count }
  nonisolated func didInject(_ value: Any, intoProperty name: String) {
    assumeIsolated { $0.heard.append(name) }
  }
}

@MainActor private final class Window: InjectionObserver {
  @Lazy var number = 5
  var heard: [String] = []
  func didInject(_ value: Any, intoProperty name: String) { heard.append(name) }
}

private final class Curious {
  @Lazy(onInjection: Curious.hearOwn) var own = Service()
  @Lazy(onInjection: Curious.hearFleeting) var fleeting = Service()
  @Lazy(onInjection: Curious.hearReplaced) var replaced = 1
  @Lazy(onInjection: Curious.hearFirst) var first = 1
  @Lazy(onInjection: Curious.hearSecond) var second = 2
  var calls = 0
  var sum = 0
  var sawItself = false

  func hearOwn(_ service: Service) {
    calls += 1
    sawItself = own === service
  }
  func hearFleeting(_ service: Service) {
    calls += 1
    $fleeting.reset()
  }
  func hearReplaced(_ number: Int) {
    calls += 1
    replaced = 2
  }
  func hearFirst(_ number: Int) { sum += number + second }
  func hearSecond(_ number: Int) { sum += first * 10 }
}

@Suite("Hooks", .registry, .timeLimit(.hang)) struct HookTests {
  private var registry: InitializerRegistry { .current }

  @Test("closures and methods are called for registered values and expressions")
  func closuresAndMethodsHearOfRegisteredValuesAndExpressions() {
    registry.register { Service("registered") }
    let screen = Screen()
    _ = screen.closure
    _ = screen.closureWithExpression
    _ = screen.method
    _ = screen.methodWithExpression
    #expect(screen.log == ["closure registered", "closure own", "method registered", "method own"])
  }

  @Test("a hook for a superclass serves its subclasses")
  func aHookForASuperclassServesItsSubclasses() {
    let screen = SubScreen()
    _ = screen.inSubclass
    _ = screen.methodWithExpression
    #expect(screen.log == ["method sub", "method own"])
  }

  @Test("a hook is called once for each created value and never for an assignment")
  func aHookHearsOncePerValueMadeAndOfNoAssignment() {
    let screen = Screen()
    screen.methodWithExpression = Service("assigned")
    #expect(screen.log == [])
    screen.$methodWithExpression.reset()
    _ = screen.methodWithExpression
    _ = screen.methodWithExpression
    #expect(screen.log == ["method own"])
  }

  @Test("the registration's hook comes first, then the property's, the observer's and the registry's")
  func theRegistrationsHookComesFirstThenTheOwnThenTheObserverThenTheRegistrys() {
    registry.register { Service() }
      .onInjection { _, point in (point.container as? Observed)?.log.append("registration 1") }
      .onInjection { _, point in (point.container as? Observed)?.log.append("registration 2") }
    registry.onInjection { _, point in (point.container as? Observed)?.log.append("registry") }
    let observed = Observed()
    _ = observed.service
    _ = observed.service
    #expect(observed.log == ["registration 1", "registration 2", "own", "service", "registry"])
  }

  @Test("an observer gets the property's name without one underscore")
  func anObserverHearsThePropertysNameWithoutOneUnderscore() {
    let observed = Observed()
    _ = observed.plain
    #expect(observed.underscored == 2)
    #expect(observed.log == ["plain", "_underscored"])
  }

  @Test("an actor observes injections on the actor")
  func anActorHearsOnTheActor() async {
    let worker = Worker()
    #expect(await worker.read() == 4)
    #expect(await worker.heard == ["count"])
  }

  @Test("a main-actor class observes injections on the main actor")
  @MainActor func aMainActorClassHearsOnTheMainActor() {
    let window = Window()
    #expect(window.number == 5)
    #expect(window.heard == ["number"])
  }

  @Test("a method of a main-actor class is a hook")
  @MainActor func aMethodOfAMainActorClassIsAHook() {
    @MainActor final class Panel {
      @Lazy(onInjection: Panel.hear) var number = 3
      var heard: [Int] = []
      func hear(_ number: Int) { heard.append(number) }
    }
    let panel = Panel()
    _ = panel.number
    #expect(panel.heard == [3])
  }

  @Test("a hook that reads its property gets the value")
  func aHookThatReadsItsPropertyGetsTheValue() {
    let curious = Curious()
    _ = curious.own
    #expect(curious.sawItself)
    #expect(curious.calls == 1)
  }

  @Test("after a hook resets its property, the next read creates another value")
  func aHookThatResetsItsPropertyMakesTheNextReadMakeAnother() {
    let curious = Curious()
    let first = curious.fleeting
    #expect(!curious.$fleeting.hasValue)
    #expect(curious.fleeting !== first)
    #expect(curious.calls == 2)
  }

  @Test("a hook may assign its property")
  func aHookMayAssignItsProperty() {
    let curious = Curious()
    _ = curious.replaced
    #expect(curious.replaced == 2)
    #expect(curious.calls == 1)
  }

  @Test("hooks may read each other's properties")
  func hooksMayReadEachOthersProperties() {
    let curious = Curious()
    #expect(curious.first == 1)
    #expect(curious.second == 2)
    #expect(curious.sum == 13)
  }

  @Test("every hook is called once under a race")
  func underARaceEveryHookIsCalledOnce() async {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Shared: @unchecked Sendable, InjectionObserver {
      let hooked = Counter()
      let observed = Counter()
      @Lazy(onInjection: { (shared: Shared, _) in shared.hooked.increment() }) var service: Service
      func didInject(_ value: Any, intoProperty name: String) { observed.increment() }
    }
    let registered = Counter()
    registry.register { Service() }.onInjection { _, _ in registered.increment() }
    let all = (0..<50).map { _ in Shared() }
    _ = await race(1_000) { index in ObjectIdentifier(all[index % 50].service) }
    #expect(all.map(\.hooked.value) == Array(repeating: 1, count: 50))
    #expect(all.map(\.observed.value) == Array(repeating: 1, count: 50))
    #expect(registered.value == 50)
  }

  @Test("a hook for another class stops the program with a message")
  func aHookForAnotherClassStopsTheProgramWithASentence() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Stranger {
        @Lazy(onInjection: { (_: Screen, _) in }) var service = Service()
      }
      _ = Stranger().service
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Stranger"))
    #expect(message.contains("has a hook for Screen"))
    #expect(message.contains("HookTests.swift:"))
    #expect(message.contains("Write the hook for the class that declares the property"))
  }
}
