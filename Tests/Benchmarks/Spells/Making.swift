import Benchmark

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
