import InjectedSpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

@MainActor private final class Window: InjectionObserver, PostInjectable {
  @Injected var clock: Clock
  @Injected(onInjection: Window.didGet) var tracker: BaseTracker
  var log: [String] = []
  func didGet(_ tracker: BaseTracker) {
    MainActor.preconditionIsolated()
    log.append("hook")
  }
  func didInject(_ value: Any, intoProperty name: String) {
    MainActor.preconditionIsolated()
    log.append(name)
  }
  func postInject() { log.append("post") }
}

/// A type that fills an object without naming its properties, which the compiler warns about.
private protocol FillingByReflection: Sendable {
  @MainActor func inject() throws
  @MainActor func fillFromBox() -> FillReport
}
private struct Unnamed: FillingByReflection {
  let window: Window
  let registry: InitializerRegistry
  @available(*, deprecated) func inject() throws { try registry.inject(into: window) }
  @available(*, deprecated) func fillFromBox() -> FillReport {
    let box = ServiceBox()
    box.register(Clock(), named: "clock")
    return box.fill(window)
  }
}

private actor Worker: InjectionObserver {
  @Injected var clock: Clock
  var log: [String] = []
  nonisolated func didInject(_ value: Any, intoProperty name: String) { assumeIsolated { $0.log.append(name) } }
}

@Suite("In its isolation", .registry, .timeLimit(.hang)) struct IsolationTests {
  private var registry: InitializerRegistry { .current }

  private func registerAll() {
    registry.register { Clock() }
    registry.register { BaseTracker() }
  }

  @Test("a main-actor object is filled where its properties may be named")
  func aMainActorObjectIsFilledWhereItsPropertiesMayBeNamed() async throws {
    registerAll()
    let registry = registry
    let window = Window()
    try await MainActor.run { try registry.inject(into: window, \.$clock, \.$tracker) }
    #expect(await window.log == ["clock", "hook", "tracker", "post"])
  }

  @Test("an object that another task may use isn't filled without its properties' names")
  func aSendableObjectIsNotFilledWithoutItsPropertiesNames() async throws {
    registerAll()
    let window = Window()
    let unnamed: any FillingByReflection = Unnamed(window: window, registry: registry)
    let error = await #expect(throws: InjectionError.self) { try await unnamed.inject() }
    #expect(error?.code == .wrongIsolation)
    #expect(error?.description.contains("inject(into: object, \\.$property)") == true)
    let report = await unnamed.fillFromBox()
    #expect(report.filled == [])
    #expect(report.note?.contains("box.fill(object, \\.$property)") == true)
    #expect(await window.log == [])
  }

  @Test("an actor is filled from elsewhere")
  func anActorIsFilledFromElsewhere() async throws {
    registerAll()
    let worker = Worker()
    try await registry.inject(into: worker)
    #expect(await worker.log == ["clock"])
  }

  @Test("a box fills a main-actor object on the main actor, and an actor from elsewhere")
  func aBoxFillsAMainActorObjectThereAndAnActorFromElsewhere() async {
    let box = ServiceBox()
    let clock = Clock()
    box.register(clock, named: "clock")
    let (window, worker) = (Window(), Worker())
    #expect(await MainActor.run { box.fill(window, \.$clock).filled } == ["clock"])
    #expect(await window.clock === clock)
    #expect(await window.log == ["clock"])
    #expect(await box.fill(worker).filled == ["clock"])
    #expect(await worker.clock === clock)
  }

  @Test("a service in a box is left alone until its own isolation reads its property, which the box then gives")
  func aServiceInABoxIsLeftAloneUntilItsOwnIsolationReadsItsProperty() async {
    let (box, clock) = (ServiceBox(), Clock())
    let window = Window()
    box.register(window, named: "window")
    box.register(clock, named: "clock")
    final class Plain { @Injected var clock: Clock }
    box.fill(Plain())
    await MainActor.run { _ = box.fill(Plain()) }
    #expect(await window.log == [])
    #expect(await window.clock === clock)
    #expect(await window.log == ["clock"])
  }

  @Test("a hook of the main actor is called on the main actor")
  func aHookOfTheMainActorIsCalledThere() async {
    registerAll()
    let window = Window()
    await MainActor.run { _ = window.tracker }
    #expect(await window.log == ["hook", "tracker"])
  }

  @Test("a hook of the main actor for a property that is read elsewhere stops the program")
  func aHookOfTheMainActorForAPropertyThatIsReadElsewhereStopsTheProgram() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
      final class Shared: @unchecked Sendable {
        @Injected(onInjection: Shared.hear) var clock: Clock
        @MainActor func hear(_ clock: Clock) {}
      }
      InitializerRegistry.shared.register { Clock() }
      let shared = Shared()
      await Task.detached { _ = shared.clock }.value
    }
    let message = text(result.standardErrorContent)
    #expect(
      message.contains("A property of type Clock in Shared has a hook of the main actor, and was read elsewhere."))
    #expect(message.contains("IsolationTests.swift:"))
  }

  @Test("other tasks read copies of a wrapper while the property is reset and assigned")
  func copiesOfAWrapperAreReadByOtherTasksWhileThePropertyIsResetAndAssigned() async {
    final class Holder {
      @Injected var tracker: BaseTracker
      var copy: Injected<BaseTracker> { _tracker }
    }
    registry.register { BaseTracker("registered: long enough to lie on the heap") }
    let holder = Holder()
    await withTaskGroup(of: Bool.self) { group in
      for round in 0..<2_000 {
        let copy = holder.copy
        group.addTask { copy.value.label.hasSuffix("on the heap") }
        if round.isMultiple(of: 3) {
          holder.tracker = BaseTracker("assigned: long enough to lie on the heap")
        } else {
          holder.$tracker.reset()
        }
        #expect(holder.tracker.label.hasSuffix("on the heap"))
      }
      for await isWhole in group { #expect(isWhole) }
    }
  }

  @Test("a constant is reset while other tasks read it")
  func aConstantIsResetWhileOthersReadIt() async {
    registry.register { BaseTracker("long enough to lie on the heap") }
    let tracker = Injected<BaseTracker>()
    let seen = await race(2_000) { index in
      if index.isMultiple(of: 7) { tracker.reset() }
      return tracker.value.label
    }
    #expect(Set(seen) == ["long enough to lie on the heap"])
  }

  @Test("copies of a struct are assigned independently from many tasks")
  func copiesOfAStructAreAssignedApartFromManyTasks() async {
    struct Model: Sendable { @Injected var number: Int }
    registry.register { 1 }
    let model = Model()
    let numbers = await race(500) { index in
      var copy = model
      copy.number += index
      return copy.number
    }
    #expect(numbers.sorted() == Array(1...500))
    #expect(model.number == 1)
  }
}
