import InjectedSpell
import SpellRegistry
import TestSupport
import Testing

private final class Controller {
  @Injected var tracker: any Tracker
  @Injected var base: BaseTracker
  @Injected var serviceBox: ServiceBox
}
// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Ping: @unchecked Sendable { @Injected var pong: Pong }
// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Pong: @unchecked Sendable { @Injected var ping: Ping }

@Suite("A service box under a race", .timeLimit(.hang)) struct ServiceBoxRaceTests {
  @Test("a service box registers, fills and clears from many tasks at once")
  func registersFillsAndClearsFromManyTasks() async {
    let box = ServiceBox()
    let isRight = await race(1_000) { index in
      switch index % 4 {
      case 0: box.register(FileTracker("tracker"), named: "tracker")
      case 1: box.register(FileTracker("base"), named: "base")
      case 2 where index % 100 == 2: box.clear()
      default:
        let controller = Controller()
        let report = box.fill(controller)
        return report.mismatched.isEmpty && report.filled.contains("serviceBox")
          && (!report.filled.contains("tracker") || controller.tracker.label == "tracker")
          && (!report.filled.contains("base") || controller.base.label == "base")
      }
      return true
    }
    #expect(!isRight.contains(false))
  }

  @Test("a service box keeps one of two services that threads register under one name at once")
  func losesNoServiceThatTwoThreadsRegisterUnderOneName() async {
    let boxes = (0..<repetitions(debug: 2_000, release: 10_000)).map { _ in ServiceBox() }
    let register: @Sendable () -> Void = { for box in boxes { box.register(Clock(), named: "clock") } }
    await onThreads(register, register, register, register)
    #expect(boxes.count { (try? $0.registry.resolve(Clock.self, named: "clock")) == nil } == 0)
  }

  @Test("a service that a box no longer has asks its own registry, even after threads registered at once")
  func leavesNoAdoption() async throws {
    // `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
    final class Asking: @unchecked Sendable { @Injected(.everyRead) var base: BaseTracker }
    let own = InitializerRegistry()
    own.register { BaseTracker("own") }
    let services = (0..<repetitions(debug: 2_000, release: 10_000)).map { _ in own.run { Asking() } }
    let boxes = services.map { _ in ServiceBox() }
    for box in boxes { box.registry.register { BaseTracker("box") } }
    func onFourThreads(_ body: @escaping @Sendable (ServiceBox, Asking) -> Void) async {
      let visit: @Sendable () -> Void = { for (box, service) in zip(boxes, services) { body(box, service) } }
      await onThreads(visit, visit, visit, visit)
    }
    await onFourThreads { box, service in box.register(service, named: "a") }
    await onFourThreads { box, service in
      box.register(service, named: "a")
      box.clear()
    }
    #expect(services.count { $0.base.label == "box" } == 0)
  }

  @Test("a service box and its registry have the same service after threads registered under one name at once")
  func agreesWithItsRegistry() async throws {
    let boxes = (0..<repetitions(debug: 2_000, release: 10_000)).map { _ in ServiceBox() }
    let register: @Sendable () -> Void = { for box in boxes { box.register(Clock(), named: "clock") } }
    await onThreads(register, register, register, register)
    final class Target { @Injected var clock: Clock }
    var different = 0
    for box in boxes {
      let target = Target()
      box.fill(target)
      if try box.registry.resolve(Clock.self, named: "clock") !== target.clock { different += 1 }
      box.clear()
      if (try? box.registry.resolve(Clock.self, named: "clock")) != nil { different += 1 }
    }
    #expect(different == 0)
  }

  @Test("one service is left of those of different types that threads register under one name at once")
  func leavesOneOfDifferentTypes() async {
    let boxes = (0..<repetitions(debug: 1_000, release: 10_000)).map { _ in ServiceBox() }
    func register<Service: Sendable>(_ make: @escaping @Sendable () -> Service) -> @Sendable () -> Void {
      { for box in boxes { box.register(make(), named: "service") } }
    }
    await onThreads(register { Clock() }, register { 1 }, register { "one" }, register { Clock() })
    let left = boxes.map { box in
      [
        box.registry.isRegistered(Clock.self, named: "service"), box.registry.isRegistered(Int.self, named: "service"),
        box.registry.isRegistered(String.self, named: "service"),
      ].count { $0 }
    }
    #expect(left.count { $0 != 1 } == 0)
  }

  @Test("a service that another one of its name replaces is no longer registered")
  func replacesAnotherType() {
    let box = ServiceBox()
    box.register(Clock(), named: "service")
    box.register(FileTracker(), named: "service")
    #expect(!box.registry.isRegistered(Clock.self, named: "service"))
    #expect(box.registry.isRegistered(FileTracker.self, named: "service"))
  }

  @Test("a service box fills the same services from many tasks at once")
  func fillsTheSameServicesFromManyTasks() async {
    let box = ServiceBox()
    let (ping, pong) = (Ping(), Pong())
    box.register(ping, named: "ping")
    box.register(pong, named: "pong")
    let reports = await race(500) { _ in box.fill(Controller()).filled }
    #expect(Set(reports) == [["serviceBox"]])
    #expect(ping.pong === pong)
    #expect(pong.ping === ping)
    ping.$pong.reset()
  }
}
