import InjectedSpell
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

private protocol Part: AnyObject, Sendable { var number: Int { get } }
private final class Wheel: Part {
  let number: Int
  init(number: Int) { self.number = number }
}
private final class Engine: Sendable {
  let wheel: Wheel
  init(wheel: Wheel) { self.wheel = wheel }
}
/// `@unchecked Sendable`: no code assigns the wrapped properties; the atomic `gate` and the lock of their storage guard
/// them.
private final class Car: InjectionObserver, @unchecked Sendable {
  @Injected var part: any Part
  @Injected var wheel: Wheel?
  @Injected("spare") var spare: Wheel
  let heard = Atomic(0)
  func didInject(_ value: Any, intoProperty name: String) { heard.add(1, ordering: .relaxed) }
}

@Suite("Everything at once", .registry, .timeLimit(.hang)) struct StressTests {
  @Test("eight tasks register, resolve, read, re-inject, box and unregister at random without harm")
  func random() async {
    let registry = InitializerRegistry.current
    registry.register((any Part).self, scope: .singleton) { Wheel(number: 0) }
    registry.register(Wheel.self, named: "spare") { Wheel(number: 1) }
    let box = ServiceBox(registry: InitializerRegistry(parent: registry))
    let car = Car()
    let rounds = 4_000
    let done = await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var random = SplitMix(seed: UInt64(task))
          for round in 0..<rounds {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: registry.register((any Part).self, scope: .singleton) { Wheel(number: round) }
            case 1: registry.register(Engine.self, named: .containing("\(round % 7)"), .autowire(Engine.init))
            case 2: registry.register(named: "wheel", .instance(Wheel(number: round))).unregister()
            case 3: registry.reinject((any Part).self)
            case 4: registry.reinject(Wheel.self)
            case 5: box.register(Wheel(number: round), named: round.isMultiple(of: 2) ? "part" : "wheel")
            case 6: box.register(car, named: "car")
            case 7: _ = try? registry.resolve(Engine.self, named: "engine \(round % 7)")
            case 8:
              let own = registry.run { Car() }
              #expect(own.spare.number == 1)
              _ = (own.part.number, own.wheel?.number)
            default: _ = (car.part.number, car.wheel?.number, car.spare.number)
            }
          }
          return rounds
        }
      }
      return await group.reduce(0, +)
    }
    #expect(done == 8 * rounds)
    #expect(car.spare.number == 1)
    #expect(car.heard.load(ordering: .relaxed) > 0)
  }

  @Test("a singleton that two tasks race for is made once, 10,000 times over")
  func races() async {
    let registry = InitializerRegistry()
    let made = Atomic(0)
    for _ in 0..<10_000 {
      registry.register(Wheel.self, scope: .singleton) { Wheel(number: made.add(1, ordering: .relaxed).newValue) }
      async let one = registry.resolve(Wheel.self)
      async let two = registry.resolve(Wheel.self)
      let isSame = try? await one === two
      #expect(isSame == true)
    }
    #expect(made.load(ordering: .relaxed) == 10_000)
  }

  @Test("objects with injected properties leave nothing behind in the registry")
  func nothingLeft() {
    let registry = InitializerRegistry.current
    registry.register((any Part).self) { Wheel(number: 0) }
    registry.register(Wheel.self) { Wheel(number: 1) }
    weak var last: Car?
    weak var part: (any Part)?
    for _ in 0..<10_000 {
      let car = Car()
      _ = (car.part.number, car.wheel?.number, car.spare.number)
      (last, part) = (car, car.part)
    }
    #expect(last == nil)
    #expect(part == nil)
    #expect(registry.graph().nodes.count == 3)
  }
}
