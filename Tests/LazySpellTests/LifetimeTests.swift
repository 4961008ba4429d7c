import LazySpell
import SpellRegistry
import SpellTesting
import Testing

private final class Owner: InjectionObserver {
  @Lazy var service = Service()
  @Lazy var registered: Service
  @Lazy(onInjection: { (owner: Owner, _) in owner.heard += 1 }) var hooked = Service()
  @Lazy(onInjection: Owner.hear) var told = Service()
  var heard = 0
  func hear(_ service: Service) { heard += 1 }
  func didInject(_ value: Any, intoProperty name: String) { heard += 1 }
}

private final class Child {
  weak var parent: Parent?
  unowned let owner: Parent
  init(of parent: Parent) {
    self.parent = parent
    owner = parent
  }
}

private final class Parent {
  @Lazy var child: Child
}

@Suite("Lifetime", .registry) struct LifetimeTests {
  private var registry: InitializerRegistry { .current }

  @Test("a property never retains its enclosing object")
  func thePropertyNeverRetainsItsOwner() {
    registry.register(Service.self, .in(Owner.self) { _ in Service() })
    var owner: Owner? = Owner()
    weak let gone = owner
    _ = owner?.service
    _ = owner?.registered
    _ = owner?.hooked
    _ = owner?.told
    _ = owner?.$service.hasValue
    owner?.$hooked.reset()
    #expect(owner?.heard == 6)
    owner = nil
    #expect(gone == nil)
  }

  @Test("an initializer may keep the enclosing object weak or unowned")
  func anInitializerMayKeepTheOwnerWeaklyOrUnowned() {
    registry.register(Child.self, .in(Parent.self) { Child(of: $0) })
    var parent: Parent? = Parent()
    weak let gone = parent
    let child = parent?.child
    #expect(child?.parent === parent)
    #expect(child?.owner === parent)
    parent = nil
    #expect(gone == nil)
    #expect(child?.parent == nil)
  }

  @Test("the value is released with the enclosing object, by an assignment and by a reset")
  func theValueGoesWithItsOwnerOrAtAnAssignmentOrAReset() {
    var owner: Owner? = Owner()
    weak let first = owner?.service
    #expect(first != nil)
    owner?.service = Service()
    #expect(first == nil)
    weak let second = owner?.service
    #expect(second != nil)
    owner?.$service.reset()
    #expect(second == nil)
    weak let third = owner?.service
    #expect(third != nil)
    owner = nil
    #expect(third == nil)
  }

  @Test("a struct releases its value with its last copy")
  func aStructReleasesItsValueWithItsLastCopy() {
    struct Model { @Lazy var service = Service() }
    weak var gone: Service?
    do {
      let model = Model()
      let copy = model
      gone = copy.service
      #expect(model.service === gone)
    }
    #expect(gone == nil)
  }

  @Test("a constant that was reset keeps two values that readers may hold until it is released")
  func aConstantThatWasResetKeepsTwoValuesThatReadersMayHoldUntilItGoes() {
    weak var first: Service?
    weak var third: Service?
    do {
      let constant = LazyConstant { Service() }
      first = constant.value
      constant.reset()
      _ = constant.value
      constant.reset()
      third = constant.value
      #expect(third != nil)
      #expect(first !== third)
      constant.reset()
      #expect(third == nil)
      #expect(constant.value !== first)
    }
    #expect(first == nil)
  }

  @Test("a value whose deinitializer reads the property is released safely")
  func aValueWhoseDeinitializerReadsThePropertyIsReleasedSafely() {
    final class Farewell {
      let atEnd: () -> Void
      init(_ atEnd: @escaping () -> Void) { self.atEnd = atEnd }
      deinit { atEnd() }
    }
    final class Host {
      var read: [Bool] = []
      @Lazy var farewell = Farewell {}
    }
    let host = Host()
    host.farewell = Farewell { [unowned host] in host.read.append(host.$farewell.hasValue) }
    host.farewell = Farewell { [unowned host] in host.read.append(host.$farewell.hasValue) }
    host.$farewell.reset()
    #expect(host.read == [true, false])
  }

  @Test("an initializer that fails leaves nothing behind")
  func aFailedInitializerLeavesNothingBehind() {
    final class Attempt { @Lazy var service: Service }
    registry.register(Service.self, .in(Attempt.self) { _ in throw CancellationError() })
    var attempt: Attempt? = Attempt()
    weak let gone = attempt
    #expect(throws: InjectionError.self) { try attempt?.$service.resolve() }
    attempt = nil
    #expect(gone == nil)
  }
}
