import Benchmark
import Spellbook

func compareMaking() {
  compareMakingAndDropping("@Lazy, Int", LazyInt.self, LazyVarInt.self)
  compareMakingAndDropping("@Lazy, object", LazyThing.self, LazyVarThing.self)
  compareMakingAndDropping("@Injected, Int", InjectedInt.self, LazyVarInt.self)
  compareMakingAndDropping("@Injected, object", InjectedThing.self, LazyVarThing.self)
  Comparison(
    what: "Make an object and read its @Injected once", baseline: "by hand", goal: .nanoseconds(150),
    extraAllocations: 1, times: 200
  )
  .add(subject: { makingAndReading(InjectedThing.self) }, baseline: { makingAndReading(HandMadeThing.self) })
  Comparison(
    what: "Make an object and read its @Injected of a singleton once", baseline: "by hand", goal: .nanoseconds(130),
    times: 200
  )
  .add {
    let run = makingAndReading(InjectedThing.self)
    InitializerRegistry.shared.register(scope: .singleton) { Thing() }
    return run
  } baseline: {
    makingAndReading(HandMadeThing.self)
  }
  compareRequests()
}

private final class RequestHandler {
  @Injected var number: Int
  @Injected var text: String
  @Injected var thing: Thing
  @Injected var rate: Double
}

private final class HandMadeHandler {
  let number: Int
  let text: String
  let thing: Thing
  let rate: Double
  init(number: Int, text: String, thing: Thing, rate: Double) {
    (self.number, self.text, self.thing, self.rate) = (number, text, thing, rate)
  }
}

/// Compares the work of a server for each request: a child registry with two values, and a handler that gets four.
private func compareRequests() {
  Comparison(
    what: "A request's registry, two instances, four injections", baseline: "by hand", goal: .nanoseconds(1_200),
    times: 200
  )
  .add {
    let registry = InitializerRegistry()
    registry.register(.instance(Thing()))
    registry.register(Double.self, scope: .singleton) { 0.5 }
    return { meter in
      meter.measure {
        for _ in $0 {
          let request = registry.child {
            $0.register(.instance(7))
            $0.register(.instance(longText))
          }
          request.run {
            let handler = RequestHandler()
            use(handler.number)
            use(handler.text)
            use(handler.thing)
            use(handler.rate)
          }
        }
      }
    }
  } baseline: {
    let thing = Thing()
    return { $0.measure { for _ in $0 { use(HandMadeHandler(number: 7, text: longText, thing: thing, rate: 0.5)) } } }
  }
}

@inline(__always) private func compareMakingAndDropping<Subject: Holder, Baseline: Holder>(
  _ what: String, _: Subject.Type, _: Baseline.Type
) {
  Comparison(what: "Make and drop an object with \(what)", baseline: "lazy var", goal: .ratio(2.5), extraAllocations: 1)
    .add(subject: { making(Subject.self) }, baseline: { making(Baseline.self) })
}

private func making<Object: Holder>(_: Object.Type) -> (Meter) -> Void {
  { $0.measure { for _ in $0 { use(Object()) } } }
}

func makingAndReading<Object: Holder>(_: Object.Type) -> (Meter) -> Void {
  registerSamples()
  return {
    $0.measure {
      for _ in $0 {
        let object = Object()
        use(object)
        use(object.value)
      }
    }
  }
}
