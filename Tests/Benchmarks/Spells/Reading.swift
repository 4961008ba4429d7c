import Benchmark
import Spellbook

func compareReading() {
  compareReadingAgain("@Lazy, Int", LazyInt.self, LazyVarInt.self)
  compareReadingAgain("@Lazy, String", LazyText.self, LazyVarText.self)
  compareReadingAgain("@Lazy, object", LazyThing.self, LazyVarThing.self)
  compareReadingAgain("@Injected, Int", InjectedInt.self, LazyVarInt.self)
  compareReadingAgain("@Injected, String", InjectedText.self, LazyVarText.self)
  compareReadingAgain("@Injected, object", InjectedThing.self, LazyVarThing.self)
  compareReadingAssigned("Int", 7, FinalInt.self, StoredInt.self)
  compareReadingAssigned("String", longText, FinalText.self, StoredText.self)
  compareReadingAssigned("object", Thing(), FinalThing.self, StoredThing.self)
  compareReadingEachTime("Int", TransientInt.self)
  compareReadingEachTime("String", TransientText.self)
  compareReadingEachTime("object", TransientThing.self)
  compareReadingChanged("Int", InjectedInt.self) { 7 }
  compareReadingChanged("String", InjectedText.self) { longText }
  compareReadingChanged("object", InjectedThing.self) { Thing() }
  compareReadingFirst("@Lazy, Int", LazyInt.self, LazyVarInt.self)
  compareReadingFirst("@Lazy, String", LazyText.self, LazyVarText.self)
  compareReadingFirst("@Lazy, object", LazyThing.self, LazyVarThing.self)
}

@inline(__always) private func compareReadingAgain<Subject: Holder, Baseline: Holder>(
  _ what: String, _: Subject.Type, _: Baseline.Type
) {
  Comparison(what: "Re-read \(what)", baseline: "lazy var", goal: .ratio(1), times: 100_000)
    .add(subject: { readingAgain(Subject.self) }, baseline: { readingAgain(Baseline.self) })
}

@inline(__always) private func compareReadingAssigned<Subject: AssignedHolder, Baseline: AssignedHolder>(
  _ what: String, _ value: Subject.Value, _: Subject.Type, _: Baseline.Type
) where Subject.Value == Baseline.Value {
  Comparison(what: "Re-read @Final, \(what)", baseline: "stored property", goal: .ratio(1.5), times: 100_000)
    .add(subject: { readingAssigned(value, Subject.self) }, baseline: { readingAssigned(value, Baseline.self) })
}

@inline(__always) private func compareReadingEachTime<Object: Holder>(_ what: String, _: Object.Type) {
  Comparison(what: "Read @Injected(.everyRead), \(what)", baseline: "resolve by type", goal: .ratio(3))
    .add(subject: { readingAgain(Object.self) }, baseline: { resolving(Object.Value.self) })
}

/// Compares reading a value that was replaced while readers could be reading it with reading a property's first value.
@inline(__always) private func compareReadingChanged<Object: Holder>(
  _ what: String, _: Object.Type, _ make: @escaping @Sendable () -> Object.Value
) where Object.Value: Sendable {
  Comparison(
    what: "Re-read after a re-injection, \(what)", baseline: "before it", goal: .ratio(2), times: 100_000
  ).add(subject: { readingReinjected(Object.self) }, baseline: { readingAgain(Object.self) })
  Comparison(
    what: "Re-read of a constant after a reset, \(what)", baseline: "before it", goal: .ratio(5), times: 100_000
  ).add(subject: { readingConstant(make, resets: 1) }, baseline: { readingConstant(make, resets: 0) })
  Comparison(
    what: "Re-read of a constant after three resets, \(what)", baseline: "before it", times: 100_000
  ).add(subject: { readingConstant(make, resets: 3) }, baseline: { readingConstant(make, resets: 0) })
}

@inline(__always) private func compareReadingFirst<Subject: Holder, Baseline: Holder>(
  _ what: String, _: Subject.Type, _: Baseline.Type
) {
  Comparison(what: "First read of \(what)", baseline: "lazy var", goal: .ratio(3), extraAllocations: 1)
    .add(subject: { readingFirst(Subject.self) }, baseline: { readingFirst(Baseline.self) })
}

func readingAgain<Object: Holder>(_: Object.Type) -> (Meter) -> Void {
  registerSamples()
  let object = identity(Object())
  use(object.value)
  return { $0.measure { for _ in $0 { use(object.value) } } }
}

private func resolving<Value>(_: Value.Type) -> (Meter) throws -> Void {
  registerSamples()
  let registry = InitializerRegistry.shared
  return { try $0.measure { for _ in $0 { use(try registry.resolve(Value.self)) } } }
}

private func readingReinjected<Object: Holder>(_: Object.Type) -> (Meter) -> Void {
  registerSamples()
  let object = identity(Object())
  use(object.value)
  InitializerRegistry.shared.reinject(Object.Value.self)
  use(object.value)
  return { $0.measure { for _ in $0 { use(object.value) } } }
}

private func readingConstant<Value: Sendable>(_ make: @escaping @Sendable () -> Value, resets: Int) -> (Meter) -> Void {
  let constant = identity(LazyConstant(make))
  use(constant.value)
  for _ in 0..<resets {
    constant.reset()
    use(constant.value)
  }
  return { $0.measure { for _ in $0 { use(constant.value) } } }
}

private func readingAssigned<Object: AssignedHolder>(_ value: Object.Value, _: Object.Type) -> (Meter) -> Void {
  let object = identity(Object())
  object.value = identity(value)
  return { $0.measure { for _ in $0 { use(object.value) } } }
}

private func readingFirst<Object: Holder>(_: Object.Type) -> (Meter) -> Void {
  // The registry has other types too, as in a program that registers its services.
  register(manyTypes(10), in: .shared)
  return { meter in
    let objects = identity((0..<meter.times).map { _ in Object() })
    meter.measure { for index in $0 { use(objects[index].value) } }
  }
}
