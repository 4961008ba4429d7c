import SpellRegistry
import TestSupport
import Testing

private final class Service: PostInjectable, Sendable {
  let name: String
  let calls: Shared<[String]>
  init(_ name: String, _ calls: Shared<[String]>) {
    self.name = name
    self.calls = calls
  }
  func postInject() { calls.update { $0.append(name) } }
}

@Suite("postInject()") struct PostInjectableTests {
  let registry = InitializerRegistry()

  @Test("every registered instance that has it is called, in order, each object once")
  func instances() {
    let calls = Shared<[String]>([])
    let first = Service("first", calls)
    registry.register(.instance(first))
    registry.register(.instance(Clock()))
    registry.register(.instance(Service("second", calls), as: .anySupertype))
    registry.register(named: "again", .instance(first))
    registry.register(Service.self, named: "made") { Service("made", calls) }
    registry.postInjectInstances()
    #expect(calls.value == ["first", "second"])
  }

  @Test("an object that is also registered as an Optional is called once")
  func optional() {
    let calls = Shared<[String]>([])
    let service = Service("service", calls)
    registry.register(Service.self, .instance(service))
    registry.register(Service?.self, .instance(service))
    registry.register(Service??.self, .instance(service))
    registry.postInjectInstances()
    #expect(calls.value == ["service"])
  }

  @Test("it runs with no lock held, so it may register and resolve")
  func reentrant() throws {
    struct Registrar: PostInjectable {
      let registry: InitializerRegistry
      func postInject() { registry.register(Int.self) { 1 } }
    }
    registry.register(.instance(Registrar(registry: registry)))
    registry.postInjectInstances()
    #expect(try registry.resolve(Int.self) == 1)
    registry.removeAll()
  }
}
