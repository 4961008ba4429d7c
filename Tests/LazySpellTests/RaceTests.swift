import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
private final class Shared: @unchecked Sendable {
  let made = Counter()
  @Lazy var service: Service
  @Lazy var list: [Int]
}

@Suite("Under a race", .registry, .timeLimit(.hang)) struct RaceTests {
  private var registry: InitializerRegistry { .current }

  @Test("a thousand first readers get one value")
  func aThousandFirstReadersGetOneValue() async {
    registry.register(Service.self, .in(Shared.self) { shared in Service("\(shared.made.increment())") })
    let shared = Shared()
    let seen = await race(1_000) { _ in ObjectIdentifier(shared.service) }
    #expect(Set(seen).count == 1)
    #expect(shared.made.value == 1)
  }

  @Test("a thousand first readers of a constant get one value")
  func aThousandFirstReadersOfAConstantGetOneValue() async {
    let made = Counter()
    let constant = LazyConstant {
      made.increment()
      return Array(repeating: 7, count: 100)
    }
    let seen = await race(1_000) { _ in constant.value.reduce(0, +) }
    #expect(Set(seen) == [700])
    #expect(made.value == 1)
  }

  @Test("readers that wait get the value of the reader that creates it")
  func theReadersThatWaitGetTheValueOfTheOneThatMakesIt() async {
    let (began, mayEnd) = (Latch(), Latch())
    let arrived = Counter()
    registry.register(
      Service.self,
      .in(Shared.self) { shared in
        began.open()
        mayEnd.wait()
        return Service("\(shared.made.increment())")
      })
    let shared = Shared()
    let read: @Sendable () -> Void = {
      began.wait()
      if arrived.increment() == 3 { mayEnd.open() }
      #expect(shared.service.label == "1")
    }
    await onThreads({ #expect(shared.service.label == "1") }, read, read, read)
    #expect(shared.made.value == 1)
  }

  @Test("readers that waited for an initializer that fails try again themselves")
  func theReadersThatWaitedForAFailureTryForThemselves() async {
    struct Refusal: Error {}
    registry.register(
      Service.self,
      .in(Shared.self) { shared in
        if shared.made.increment() <= 10 { throw Refusal() }
        return Service("made")
      })
    let shared = Shared()
    let succeeded = await race(100) { _ in (try? shared.$service.resolve()) != nil }
    #expect(succeeded.count { !$0 } == 10)
    #expect(shared.made.value == 11)
  }

  @Test("a read does not wait for another property of the object")
  func anotherPropertyOfTheObjectIsNotWaitedFor() async {
    let (began, mayEnd) = (Latch(), Latch())
    registry.register(
      Service.self,
      .in(Shared.self) { _ in
        began.open()
        mayEnd.wait()
        return Service()
      })
    let shared = Shared()
    await onThreads(
      { _ = shared.service },
      {
        began.wait()
        #expect(shared.list == [])
        mayEnd.open()
      })
  }

  @Test(
    "a constant that is reset while its value is created creates another one for the next reader", arguments: 1...20)
  func aConstantThatIsResetWhileItsValueIsMadeMakesAnotherForTheNextReader(round: Int) async {
    let (began, mayEnd, made) = (Latch(), Latch(), Counter())
    let constant = LazyConstant {
      let number = made.increment()
      began.open()
      mayEnd.wait()
      return Service("\(number)")
    }
    await onThreads(
      { #expect(constant.value.label == "1") },
      {
        began.wait()
        constant.reset()
        mayEnd.open()
      })
    #expect(!constant.hasValue)
    #expect(constant.value.label == "2")
  }

  @Test("a constant may be reset while other threads read it")
  func aConstantMayBeResetWhileOthersReadIt() async {
    let made = Counter()
    let constant = LazyConstant { Service("\(made.increment())") }
    let seen = await race(1_000) { index in
      if index % 10 == 0 { constant.reset() }
      return constant.value.label
    }
    #expect(seen.allSatisfy { Int($0).map { 1...made.value ~= $0 } ?? false })
    #expect(2...101 ~= made.value)
    #expect(constant.value === constant.value)
  }
}
